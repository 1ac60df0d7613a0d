// Another program on this machine listens at a port of its own, and tries to get the cookie of a paired browser, or to take it away. A real Chromium sends cookies to
// every port of a host.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createGateway, createLog, createServer } from '../../src/_entries/index.ts';
import { approve } from '../../src/_entries/middleware.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { until } from '../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from './chromium.ts';

const { open, closing } = browserOfTests();

/** Keeps the cookies that it gets, and sets some. */
async function listener(): Promise<{ url: string; cookies: string[]; sets: string[] }> {
  const cookies: string[] = [];
  const sets: string[] = [];
  const server = createHttpServer(({ headers, url }, response) => {
    if (url !== '/favicon.ico') cookies.push(headers.cookie ?? '');
    response.setHeader('set-cookie', sets);
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>other</title><p>Another program.</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cookies, sets };
}

async function behind(visit: string) {
  const links: string[] = [];
  const log = createLog({ level: 'silent' });
  const notes = createServer({ name: 'notes', version: '1', log });
  notes.tool('delete_note', { annotations: { destructiveHint: true } }, () => 'deleted');
  notes.tool('pay', { annotations: { readOnlyHint: true } }, async (_, call) => {
    const { action } = await call.ask.elicitUrl({ message: 'Pay the bill', url: visit });
    return `you said ${action}`;
  });
  const gateway = createGateway({
    servers: { notes },
    steps: [approve()],
    ask: { notify: ({ link }: { link: string }) => void links.push(link) },
    log,
  });
  closing.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const client = await connected(url);
  closing.push(() => client.close());
  const hold = async (): Promise<string> => {
    const count = links.length;
    await client.callTool('delete_note', { name: 'ideas' });
    return until('the link', () => links[count]);
  };
  return { gateway, client, hold };
}

describe.skipIf(chromiumPath === undefined)('another port of this machine', () => {
  it('gets no cookie of a paired browser, and no link to it is offered', async () => {
    const other = await listener();
    const { gateway, client, hold } = await behind(`${other.url}/ask`);
    const first = await hold();
    const tab = await open({});
    const { page } = tab;
    await page.goto(`${first}&c=${(await gateway.pair()).code}`);
    await page.getByRole('button', { name: 'Pair this browser' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('name: "ideas"').waitFor();

    const asked = await textOf(client, 'pay');
    await page.goto(/http:\/\/127\.0\.0\.1:\d+\/ask\?t=[\w-]+/.exec(asked)![0]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('This address is on this machine').waitFor();
    expect(await page.getByRole('link').count()).toBe(0);
    expect(await violations(tab)).toEqual([]);

    // Who opens it by hand tells it nothing that counts, whatever its path.
    const paths = ['/', '/ask', '/ask/', '/ask/x', `/ask${new URL(first).search}`];
    for (const path of paths) await page.goto(`${other.url}${path}`);
    expect(other.cookies).toHaveLength(paths.length);
    expect(other.cookies.join()).not.toContain('parley-pair');
    for (const cookie of other.cookies) {
      const second = await hold();
      for (const link of [second, second.replace(/\/ask\/[^?]+/, '/ask')]) {
        const answer = await fetch(link, { headers: { cookie } });
        const text = await answer.text();
        expect(text).not.toContain('ideas');
        expect(text).toContain('Pair this browser');
      }
    }
    // The browser itself is still paired.
    await page.goto(first);
    await page.getByText('name: "ideas"').waitFor();
  });

  it('another port of this machine cannot unpair a browser with cookies of the same name', async () => {
    const other = await listener();
    const { gateway, hold } = await behind(other.url);
    const first = await hold();
    const { page } = await open({});
    await page.goto(`${first}&c=${(await gateway.pair()).code}`);
    await page.getByRole('button', { name: 'Pair this browser' }).click();
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    const [own] = (await page.context().cookies(first)).filter(({ name }) => name.startsWith('parley-pair'));
    for (const path of ['/', '/ask', '/ask/', '/ask/x']) other.sets.push(`${own!.name}=junk; Path=${path}`);
    await page.goto(`${other.url}/ask`);
    const second = await hold();
    await page.goto(second);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('name: "ideas"').waitFor();
    await page.getByRole('button', { name: 'No' }).click();
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
  });
});
