import { expect, test } from 'vitest';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { RecordingLog } from '../../mcp/connect/fake-link.contract.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import type { ConnectedServer } from '../../mcp/connect/connected-server.ts';
import { AskResponder } from './ask-responder.ts';
import { Client } from './client.ts';
import { Listeners } from './listeners.ts';

type Answer = (cursor: unknown, page: number) => JsonObject;

function list(answer: Answer, declared = true) {
  const log = new RecordingLog();
  const cursors: unknown[] = [];
  const capabilities = declared ? { tools: {} } : {};
  const connected = {
    server: { ...SPEAKING.handshake, revision: 'x', info: { name: 'srv', version: '1' }, capabilities },
    async call({ params }: { params?: JsonObject | undefined }) {
      cursors.push(params?.cursor);
      return answer(params?.cursor, cursors.length);
    },
  };
  const answers = new AskResponder({}, async () => undefined);
  const client = new Client(connected as unknown as ConnectedServer, { answers, listeners: new Listeners(log), log });
  return { log, cursors, names: client.listTools().then((entries) => entries.map(({ name }) => name)) };
}

const tool = (name: unknown) => ({ name, inputSchema: { type: 'object' } });
const page = (names: string, nextCursor?: unknown) => ({
  tools: names.split('').map(tool),
  ...(nextCursor !== undefined && { nextCursor }),
});

test('all pages come, in their order, the first without a cursor', async () => {
  const pages: Record<string, JsonObject> = { undefined: page('ab', '2'), 2: page('', '3'), 3: page('c') };
  const { names, cursors } = list((cursor) => pages[String(cursor)]!);
  expect(await names).toEqual(['a', 'b', 'c']);
  expect(cursors).toEqual([undefined, '2', '3']);
});

test('null ends the list', async () => {
  expect(await list(() => page('a', null)).names).toEqual(['a']);
});

test('the empty cursor is a cursor like any other', async () => {
  const { names, cursors } = list((cursor) => (cursor === '' ? page('b') : page('a', '')));
  expect(await names).toEqual(['a', 'b']);
  expect(cursors).toEqual([undefined, '']);
});

test('a server to which the empty cursor means the end does not make its pages come twice', async () => {
  expect(await list(() => page('a', '')).names).toEqual(['a']);
  const two = list((cursor) => (cursor === '2' ? page('b', '') : page('a', '2')));
  expect(await two.names).toEqual(['a', 'b']);
});

test('a cursor that leads back ends the list, and is told to the log', async () => {
  const { names, log, cursors } = list((cursor) => (cursor === undefined ? page('a', 'x') : page('b', 'x')));
  expect(await names).toEqual(['a', 'b']);
  expect([log.events, cursors.length]).toEqual([['upstream.pages-in-a-circle'], 2]);
});

test('a list without an end is an error, after a while', async () => {
  const { names, cursors } = list((_, n) => page('a', `page ${n}`));
  await expect(names).rejects.toMatchObject({
    code: 'UPSTREAM_INVALID',
    message: expect.stringContaining('does not end'),
  });
  expect(cursors).toHaveLength(1000);
});

test.each([5, {}, ['x'], true])('%j is not a cursor', async (cursor) => {
  await expect(list(() => page('a', cursor)).names).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
});

test.each([{}, { tools: {} }, { tools: null }, { tools: 'abc' }])('%j is not a page', async (answer) => {
  await expect(list(() => answer).names).rejects.toThrow('tools/list answered without an array of tools');
});

test('entries that cannot be used are left out, and counted in the log', async () => {
  const { names, log } = list(() => ({ tools: [tool('a'), null, 5, [], tool(7)] }));
  expect(await names).toEqual(['a']);
  expect(log.lines).toMatchObject([{ event: 'upstream.entries-dropped', fields: { dropped: 4 } }]);
});

test.each([
  new ProtocolError(-32601, 'Method not found'),
  new GatewayError('NOT_SUPPORTED', { server: 'x', what: 'y' }),
])('a server that never declared the area and does not know it has none: %s', async (error) => {
  const refuse = () => {
    throw error;
  };
  expect(await list(refuse, false).names).toEqual([]);
  await expect(list(refuse, true).names).rejects.toBe(error);
});

test('other errors are errors, whatever was declared', async () => {
  const error = new ProtocolError(-32603, 'Internal error');
  const { names } = list(() => {
    throw error;
  }, false);
  await expect(names).rejects.toBe(error);
});
