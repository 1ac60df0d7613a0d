// Approval with clients that declare forms and then answer them by themselves: the same question finds its person on the page.
import { describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Client, ConnectOptions } from 'mcp-parley';
import { approve } from 'mcp-parley/middleware';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';

const log = createLog({ level: 'silent' });

/** A gateway on whose clock each look takes `ms`; timers run as ever. */
async function gateway(ms: number) {
  let now = Date.now();
  const clock = {
    now: () => (now += ms),
    after(delay: number, callback: () => void) {
      const timer = setTimeout(callback, delay).unref();
      return () => clearTimeout(timer);
    },
  };
  let wiped = 0;
  const desk = createServer({ name: 'desk', version: '1', log });
  desk.tool('wipe', { annotations: { destructiveHint: true } }, () => `wiped ${++wiped}`);
  const made = createGateway({ servers: { desk }, steps: [approve()], log, clock, ask: { trust: 'all' } });
  const { url } = await made.listen({ port: 0 });
  return { url, wiped: () => wiped, [Symbol.asyncDispose]: () => made.close() };
}

async function wipe(client: Client): Promise<{ text: string; isError: boolean; handle: string; link: string }> {
  const { content, isError, _meta } = (await client.callTool('wipe')) as {
    content: { text: string }[];
    isError?: boolean;
    _meta?: Record<string, string>;
  };
  const { text } = content[0]!;
  const link = /http:\/\/\S+\/ask\?\S+/.exec(text)?.[0] ?? '';
  return { text, isError: isError === true, handle: _meta?.['mcp-parley/handle'] ?? '', link };
}

async function expectPage(client: Client, asked: { handle: string; link: string }, result: string): Promise<void> {
  await new FakeBrowser().fill(asked.link, { 'q0.0': 'true' });
  expect(await textOf(client, 'parley_answer', { handle: asked.handle })).toBe(result);
}

describe.each(['2025-11-25', '2026-07-28'])('a client of %s', (revision) => {
  const counted = (answer: ConnectOptions['onElicit']) => {
    const asked: unknown[] = [];
    const onElicit: ConnectOptions['onElicit'] = (...given) => (asked.push(given[0]), answer!(...given));
    return { asked, options: { revision, onElicit } };
  };

  test('that declines at once, again, has not asked anybody: from then on the page is used', async () => {
    await using behind = await gateway(0);
    const { asked, options } = counted(() => ({ action: 'decline' }));
    await using client = await connected(behind.url, options);
    expect(await wipe(client)).toMatchObject({ isError: true, text: expect.stringContaining('the user said no') });
    const second = await wipe(client);
    expect([second.isError, asked.length, behind.wiped()]).toEqual([false, 2, 0]);
    await expectPage(client, second, 'wiped 1');
    await expectPage(client, await wipe(client), 'wiped 2');
    expect(asked.length).toBe(2);
  });

  test('whose user declines is believed, however often', async () => {
    await using behind = await gateway(500);
    const { asked, options } = counted(() => ({ action: 'decline' }));
    await using client = await connected(behind.url, options);
    for (let times = 0; times < 3; times++) expect(await wipe(client)).toMatchObject({ isError: true });
    expect([asked.length, behind.wiped()]).toEqual([3, 0]);
  });

  test('that sends back an empty form has not answered', async () => {
    await using behind = await gateway(500);
    const { options } = counted(() => ({ action: 'accept', content: {} }));
    await using client = await connected(behind.url, options);
    const asked = await wipe(client);
    expect([asked.isError, behind.wiped()]).toEqual([false, 0]);
    await expectPage(client, asked, 'wiped 1');
  });

  test('that fills in the form is believed', async () => {
    await using behind = await gateway(0);
    const { options } = counted(() => ({ action: 'accept', content: { approve: true } }));
    await using client = await connected(behind.url, options);
    expect(await wipe(client)).toMatchObject({ text: 'wiped 1' });
  });
});

test('a client that does not know the question after all is asked on the page', async () => {
  await using behind = await gateway(500);
  await using client = await connected(behind.url, { revision: '2025-11-25', capabilities: { elicitation: {} } });
  const asked = await wipe(client);
  expect([asked.isError, behind.wiped()]).toEqual([false, 0]);
  await expectPage(client, asked, 'wiped 1');
});
