// The validator checks itself: it must see what is wrong, in the revision in which it is wrong, and nothing else.
// `node --test tests/schemas/selftest.mjs`
import { deepEqual, equal, match } from 'node:assert/strict';
import { test as declare } from 'node:test';
import { checkRecords } from './check-records.mjs';
import { EXCEPTIONS } from './exceptions.mjs';
import { REVISIONS, schemaOf } from './schemas.mjs';
import { EventReader } from './tap/event-reader.mjs';

const test = (title, body) => void declare(title, body);
const client = (message) => ({ from: 'client', message: { jsonrpc: '2.0', ...message } });
const server = (message) => ({ from: 'server', message: { jsonrpc: '2.0', ...message } });
const hello = (protocolVersion) => [
  client({ id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: INFO } }),
  server({ id: 1, result: { protocolVersion, capabilities: {}, serverInfo: INFO } }),
];
const INFO = { name: 'test', version: '1' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const call = client({ id: 2, method: 'tools/call', params: { name: 'x' } });
const statelessCall = client({ id: 2, method: 'tools/call', params: { name: 'x', _meta: META } });

const check = (records, ours = 'both') => checkRecords(records, { ours, fallback: '2025-11-25' });
const problemsOf = (records, ours) =>
  check(records, ours)
    .violations.flatMap(({ problems }) => problems)
    .join('; ');

for (const revision of REVISIONS.slice(0, -1)) {
  test(`a good conversation in ${revision} has no violations`, () => {
    const result = { content: [{ type: 'text', text: 'hello' }] };
    deepEqual(check([...hello(revision), call, server({ id: 2, result })]).violations, []);
  });

  test(`a result of another method is seen in ${revision}`, () => {
    match(problemsOf([...hello(revision), call, server({ id: 2, result: { tools: [] } })]), /content/);
  });
}

test('content that came with a later revision is seen', () => {
  const audio = server({ id: 2, result: { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] } });
  match(problemsOf([...hello('2024-11-05'), call, audio]), /content\/0/);
  equal(problemsOf([...hello('2025-03-26'), call, audio]), '');
});

test('a stateless result without its type is seen, and one type does not pass for another', () => {
  match(problemsOf([statelessCall, server({ id: 2, result: { content: [] } })]), /resultType/);
  match(problemsOf([statelessCall, server({ id: 2, result: { resultType: 'complete' } })]), /content/);
  const asked = { resultType: 'input_required', requestState: 's', inputRequests: { a: { method: 'roots/list' } } };
  equal(problemsOf([statelessCall, server({ id: 2, result: asked })]), '');
});

test('a stateless request without its envelope is seen', () => {
  const bare = client({ id: 3, method: 'server/discover', params: { _meta: {} } });
  match(problemsOf([{ ...bare, hint: '2026-07-28' }]), /protocolVersion/);
});

test('methods that a side or a revision does not have are seen', () => {
  match(problemsOf([server({ method: 'tools/list', id: 1 })]), /a server has no request tools\/list/);
  const elicit = server({ id: 9, method: 'elicitation/create', params: {} });
  match(problemsOf([...hello('2025-03-26'), elicit]), /a server has no request elicitation\/create/);
});

test('an answer that nobody asked for is seen', () => {
  match(problemsOf([server({ id: 7, result: {} })]), /nobody asked/);
});

test('what the other side says is not judged', () => {
  equal(problemsOf([...hello('2025-06-18'), call, server({ id: 2, result: {} })], 'client'), '');
});

test('conversations are kept apart', () => {
  const on = (name, records) => records.map((record) => ({ ...record, on: name }));
  const answer = server({ id: 2, result: { content: [] } });
  const mixed = [...on('a', hello('2025-06-18')), ...on('a', [call]), ...on('b', [answer])];
  match(problemsOf(mixed), /nobody asked/);
});

test('exceptions cover what they name and no more', () => {
  const unread = server({ id: null, error: { code: -32700, message: 'Parse error' } });
  const { violations, excused } = check([...hello('2025-06-18'), unread]);
  deepEqual([violations, excused], [[], { 'id-null': 1 }]);
  match(problemsOf([...hello('2025-06-18'), server({ id: null, result: {} })]), /must be string,integer/);
  for (const { name, reason } of EXCEPTIONS) equal(typeof name === 'string' && reason.length > 20, true);
});

test('there is a schema for every revision and none for others', () => {
  for (const revision of [...REVISIONS, 'DRAFT-2025-v3']) equal(typeof schemaOf(revision), 'object');
  for (const unknown of ['draft', '2099-01-01', undefined]) equal(schemaOf(unknown), undefined);
});

test('events are read however they are cut', () => {
  const bytes = Buffer.from('event: endpoint\ndata: /m\n\n: comment\r\ndata: {"a":\r\ndata: "ü"}\r\n\r\ndata:\n\n');
  const expected = [
    { event: 'endpoint', data: '/m' },
    { event: undefined, data: '{"a":\n"ü"}' },
  ];
  for (let cut = 0; cut <= bytes.length; cut++) {
    const events = [];
    const reader = new EventReader((event) => events.push(event));
    reader.push(bytes.subarray(0, cut));
    reader.push(bytes.subarray(cut));
    deepEqual(events, expected, `cut at ${cut}`);
  }
});
