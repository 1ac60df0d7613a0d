import { InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { createLog } from '../../kernel/base/log.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import { routeTo } from './route.ts';
import type { Address } from './address.ts';
import type { Route } from './route.ts';

const options = { limits: DEFAULT_LIMITS, log: createLog({ level: 'silent' }) };
async function kinds(route: Route): Promise<string[]> {
  const { kind } = await route.open();
  return [kind, ...(route.fallback ? await kinds(route.fallback) : [])];
}

test.each<[string, Address, string[]]>([
  ['a URL', 'http://x/mcp', ['streamable-http', 'http+sse']],
  ['a URL object', new URL('https://x/mcp'), ['streamable-http', 'http+sse']],
  ['a URL of a socket', 'ws://x/ws', ['websocket']],
  ['a URL with its transport', { url: 'http://x', transport: 'streamable-http' }, ['streamable-http']],
  ['a URL of the oldest transport', { url: 'http://x', transport: 'http+sse' }, ['http+sse']],
  ['a command', { command: 'x' }, ['stdio']],
])('%s leads to its links, in the order in which they are tried', async (_, address, expected) => {
  const route = routeTo(address, options);
  expect(await kinds(route)).toEqual(expected);
  expect(route.canReopen).toBe(true);
});

test('a transport of the SDK can be used once', async () => {
  const [transport] = InMemoryTransport.createLinkedPair();
  const route = routeTo(transport, options);
  expect([await kinds(route), route.canReopen]).toEqual([['memory'], false]);
});

test.each([['x'], ['ftp://x'], [{ url: 'file:///x' }], [{}], [{ start: 1 }]])('%j leads nowhere', (address) => {
  expect(() => routeTo(address as Address, options)).toThrow(expect.objectContaining({ code: 'BAD_OPTION' }));
});

test('an invalid URL is reported without its login', () => {
  expect(() => routeTo('http//me:hunter2@x', options)).toThrow('"http//…@x" is not a URL');
});
