// Questions to clients that cannot be asked, answered in a browser: the link stands in the result of the call.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Client, Gateway } from 'mcp-parley';
import { approve } from 'mcp-parley/middleware';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';
import { FakeBrowser, csrfOf } from '../../src/people/page/fake-round.contract.ts';

describe.each(['2025-11-25', '2026-07-28'])('a client of %s that cannot be asked', (revision) => {
  let gateway: Gateway;
  let url: string;
  /** What the person was shown. */
  const links: string[] = [];

  beforeAll(async () => {
    const desk = createServer({ name: 'desk', version: '1' });
    desk.tool('order', {}, async (_, call) => {
      const { action, content } = await call.ask.elicit({
        message: 'Which dish?',
        schema: { dish: { type: 'string' } },
      });
      return action === 'accept' ? `order ${String(content?.dish)}` : action;
    });
    desk.tool('wipe', { annotations: { destructiveHint: true } }, () => 'wiped');
    const steps = [approve({ when: ['wipe'] })];
    const ask = { notify: ({ link }: { link: string }) => void links.push(link) };
    gateway = createGateway({ servers: { desk }, steps, ask, log: createLog({ level: 'silent' }) });
    ({ url } = await gateway.listen({ port: 0 }));
  });
  afterAll(() => gateway.close());

  test('answers on the page, and the model comes for the result', async () => {
    await using client = await connected(url, { revision });
    const { handle, link } = await ask(client, 'order');
    const browser = new FakeBrowser();
    expect((await browser.open(link)).text).toContain('Which dish?');
    await browser.fill(link, { 'q0.0': 'Soup' });
    expect(await textOf(client, 'parley_answer', { handle })).toBe('order Soup');
  });

  test('the model that waits is told as soon as the page is sent', async () => {
    await using client = await connected(url, { revision });
    const { handle, link } = await ask(client, 'order');
    const waiting = textOf(client, 'parley_answer', { handle });
    await new FakeBrowser().fill(link, { 'q0.0': 'Fish' });
    expect(await within('the result', waiting)).toBe('order Fish');
  });

  test('what only a person may decide is not taken from the model', async () => {
    await using client = await connected(url, { revision });
    const { handle, link: inResult, text } = await ask(client, 'wipe');
    expect([inResult, text]).toEqual(['', expect.stringContaining('A person has been asked')]);
    expect(await textOf(client, 'parley_answer', { handle, answer: { approve: true } })).toContain('not accepted');
    const link = await until('the link', () => links.pop());
    const browser = new FakeBrowser();
    await browser.post(link, { do: 'pair', code: (await gateway.pair()).code });
    await browser.fill(link, { 'q0.0': 'true' });
    expect(await textOf(client, 'parley_answer', { handle })).toBe('wiped');
  });
});

test('a gateway behind a proxy takes the form from its public URL, and from no other', async () => {
  const desk = createServer({ name: 'desk', version: '1' });
  desk.tool('order', {}, async (_, call) => {
    const { content } = await call.ask.elicit({ message: 'Which dish?', schema: { dish: { type: 'string' } } });
    return `order ${String(content?.dish)}`;
  });
  const publicUrl = 'https://mcp.example.com/gateway';
  await using gateway = closing(createGateway({ servers: { desk }, publicUrl, log: createLog({ level: 'silent' }) }));
  const { url } = await gateway.listen({ port: 0 });
  await using client = await connected(url, { revision: '2026-07-28' });
  const { handle, link } = await ask(client, 'order');
  expect(link.startsWith(`${publicUrl}/ask?t=`)).toBe(true);
  const local = new URL(url).origin + link.slice(publicUrl.length);
  const browser = new FakeBrowser();
  const from = (origin: string) => ({ headers: { origin } });
  expect(await browser.post(local, { do: 'open' }, from('https://evil.example'))).toMatchObject({ status: 403 });
  const form = await browser.post(local, { do: 'open' }, from('https://mcp.example.com'));
  await browser.post(local, { csrf: csrfOf(form.text), 'q0.0': 'Soup' }, from('https://mcp.example.com'));
  expect(await textOf(client, 'parley_answer', { handle })).toBe('order Soup');
});

function closing(gateway: Gateway): Gateway & AsyncDisposable {
  return Object.assign(gateway, { [Symbol.asyncDispose]: () => gateway.close() });
}

async function ask(client: Client, tool: string): Promise<{ handle: string; link: string; text: string }> {
  const result = (await client.callTool(tool)) as unknown as {
    content: { text: string }[];
    _meta: Record<string, string>;
  };
  const { text } = result.content[0]!;
  return { text, handle: result._meta['mcp-parley/handle']!, link: /https?:\/\/\S+\/ask\?\S+/.exec(text)?.[0] ?? '' };
}
