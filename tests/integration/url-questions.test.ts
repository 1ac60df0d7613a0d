// A server asks the user to visit an address. `accept` says that the user has agreed to go there, so a model cannot say it: the page brings it,
// for clients that open no pages themselves.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway, GatewayOptions } from 'mcp-parley';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';

const open: Gateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

const VISIT = { message: 'Pay the bill', url: 'https://pay.example.com/bill/7' };
const FORM = { message: 'Your name?', schema: { name: { type: 'string' } } } as const;

async function paying(ask: GatewayOptions['ask'] = {}) {
  const log = createLog({ level: 'silent' });
  const agreed: string[] = [];
  const shop = createServer({ name: 'shop', version: '1', log });
  shop.tool('pay', {}, async (_, call) => {
    const { action } = await call.ask.elicitUrl(VISIT);
    agreed.push(action);
    return `you said ${action}`;
  });
  shop.tool('sign', {}, async (_, call) => {
    const both = await Promise.all([call.ask.elicitUrl(VISIT), call.ask.elicit(FORM)]);
    agreed.push(...both.map(({ action }) => action));
    return 'signed';
  });
  const gateway = createGateway({ servers: { shop }, log, ask });
  open.push(gateway);
  return { url: (await gateway.listen({ port: 0 })).url, agreed };
}

const handleIn = (text: string): string => /ask_[\w-]+/.exec(text)![0];
const linkIn = (text: string): string => /http:\/\/127\.0\.0\.1:\d+\/ask\?t=\S+/.exec(text)![0];
const WORDS = [{}, true, 'accept', 'yes', { action: 'accept' }, { accept: true }, { q1: {}, q2: { name: 'Ada' } }];

describe.each(['2025-11-25', '2026-07-28'])('of a client of %s that opens no pages', (revision) => {
  test.each(['pay', 'sign'])('a model cannot agree to visit an address: %s', async (tool) => {
    const { url, agreed } = await paying();
    await using client = await connected(url, { revision });
    const asked = await textOf(client, tool);
    expect(asked).toContain(VISIT.url);
    for (const answer of WORDS) {
      const told = await textOf(client, 'parley_answer', { handle: handleIn(asked), answer });
      expect(told).toContain('only the user can give it, on the page');
    }
    expect(agreed).toEqual([]);
  });

  test('the page brings the answer of the user', async () => {
    const { url, agreed } = await paying();
    await using client = await connected(url, { revision });
    const asked = await textOf(client, 'pay');
    const browser = new FakeBrowser();
    expect((await browser.open(linkIn(asked))).text).toContain(VISIT.url);
    await browser.fill(linkIn(asked), {});
    expect(await textOf(client, 'parley_answer', { handle: handleIn(asked) })).toBe('you said accept');
    expect(agreed).toEqual(['accept']);
  });

  test('without a page nobody can agree, and the server is not told that it could ask', async () => {
    const { url, agreed } = await paying({ channels: ['relay'] });
    await using client = await connected(url, { revision });
    const told = await client.callTool('pay').then((result) => JSON.stringify(result), String);
    expect(told).not.toContain('parley_answer');
    expect(told).toMatch(/cannot be asked|elicitation/i);
    expect(agreed).toEqual([]);
  });
});
