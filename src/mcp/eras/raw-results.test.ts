// Unparsed results in both eras: splicing their bytes must equal parsing, changing and encoding them.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SPEAKING } from './fake-views.contract.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { RawObject, toPlainObject, RawText } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import { readRaw } from '../wire/raw-message.ts';
import { readFastResult } from '../wire/fast-messages.ts';
import { FakeWire, fakeEvents } from './fake-wire.contract.ts';
import { HandshakeServerDialect } from './handshake/handshake-server-dialect.ts';
import { toHandshakeResult } from './handshake/results.ts';
import { META } from './meta.ts';
import { featuresOf } from './handshake/features.ts';
import { toStatelessResult } from './stateless/results.ts';
import { StatelessServerDialect } from './stateless/stateless-server-dialect.ts';

const info = { name: 's', version: '1' };
const METHODS = ['tools/call', 'resources/read', 'prompts/get'];
const OLD = ['2024-11-05', '2025-03-26'];
const NEW = ['2025-06-18', '2025-11-25'];

const block = fc.constantFrom(
  { type: 'text', text: 'a "b" ü' },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a', name: 'a' },
);

const result = fc.record(
  {
    content: fc.array(block),
    messages: fc.array(fc.record({ role: fc.constant('user'), content: block })),
    contents: fc.array(fc.jsonValue()),
    structuredContent: fc.jsonValue(),
    isError: fc.boolean(),
    resultType: fc.constant('complete'),
    ttlMs: fc.nat(),
    cacheScope: fc.constantFrom('public', 'private'),
    _meta: fc.constantFrom({}, { mine: 1 }, { [META.serverInfo]: { name: 'other', version: '2' } }, null),
    extra: fc.jsonValue(),
  },
  { requiredKeys: ['content', 'messages', 'contents'], noNullPrototype: true },
);

const task = { taskId: 't', status: 'working', createdAt: 'now', lastUpdatedAt: 'now', ttlMs: null };

/** Parsed, with its text. */
function asText(value: object): RawObject {
  const text = `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(value)}}`;
  const { message, sent } = readFastResult(text, { maxDepth: 100 })!;
  return new RawText(message.result as JsonObject, sent);
}

function asBytes(value: object): RawObject {
  const bytes = Buffer.from(
    `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(value, undefined, ' ').replaceAll('\n', '')}}`,
  );
  return readRaw(bytes, { maxDepth: 100 })!.result as RawObject;
}

/** The value as it would be encoded. */
function read(value: ResultObject): unknown {
  return JSON.parse(value instanceof RawObject ? Buffer.concat(value.chunks()).toString() : JSON.stringify(value));
}

function dialects(answer: () => unknown): { call(call: { method: string }): Promise<ResultObject> }[] {
  const server = (dialect: ServerView['dialect'], revision: string) => ({
    ...SPEAKING[dialect],
    revision,
    info,
    capabilities: {},
  });
  const wire = new FakeWire(answer);
  return [
    ...[...OLD, ...NEW].map(
      (revision) => new HandshakeServerDialect(wire, server('handshake', revision), fakeEvents()),
    ),
    new StatelessServerDialect(wire, server('stateless', '2026-07-28'), { info, capabilities: {} }, fakeEvents()),
  ];
}

const KINDS = { 'as bytes': asBytes, 'as text': asText };

describe.each(Object.entries(KINDS))('towards a client, %s,', (_, unread) => {
  it('encodes parsed and unparsed results the same for every revision', () => {
    fc.assert(
      fc.property(result, fc.constantFrom(...METHODS), (value, method) => {
        for (const revision of [...OLD, ...NEW]) {
          const features = featuresOf(revision);
          expect(read(toHandshakeResult(method, unread(value), features))).toEqual(
            read(toHandshakeResult(method, value, features)),
          );
        }
        expect(read(toStatelessResult(method, unread(value), info))).toEqual(
          read(toStatelessResult(method, value, info)),
        );
      }),
    );
  });

  it('leaves results unparsed if nothing changes', () => {
    const value = { content: [{ type: 'text', text: 'x' }], structuredContent: { a: 1 }, messages: [], contents: [] };
    for (const method of METHODS) {
      expect(toStatelessResult(method, unread(value), info)).toBeInstanceOf(RawObject);
      for (const revision of NEW)
        expect(toHandshakeResult(method, unread(value), featuresOf(revision))).toBeInstanceOf(RawObject);
    }
  });

  it('parses and converts tasks', () => {
    const value = { task };
    for (const revision of NEW) {
      expect(toHandshakeResult('tools/call', unread(value), featuresOf(revision))).toEqual(
        toHandshakeResult('tools/call', value, featuresOf(revision)),
      );
    }
    expect(toStatelessResult('tools/call', unread(value), info)).toEqual(toStatelessResult('tools/call', value, info));
  });
});

describe.each(Object.entries(KINDS))('from a server, %s,', (_, unread) => {
  it('decodes parsed and unparsed results the same', async () => {
    await fc.assert(
      fc.asyncProperty(result, fc.constantFrom(...METHODS), fc.boolean(), async (value, method, isShort) => {
        const { content, ...others } = value;
        const sent = isShort ? others : value;
        const [plain, raw] = [dialects(() => structuredClone(sent)), dialects(() => unread(sent))];
        for (const [index, dialect] of plain.entries()) {
          expect(read(await raw[index]!.call({ method }))).toEqual(read(await dialect.call({ method })));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('leaves results unparsed if the newest form is the same', async () => {
    const value = { content: [], structuredContent: [1], contents: [], messages: [], resultType: 'complete' };
    for (const dialect of dialects(() => unread(value)))
      for (const method of METHODS) expect(await dialect.call({ method })).toBeInstanceOf(RawObject);
  });

  it('parses lists, tasks and questions', async () => {
    const list = { tools: [{ name: 'a', inputSchema: { type: 'object' } }] };
    for (const dialect of dialects(() => unread(list)))
      expect(await dialect.call({ method: 'tools/list' })).toEqual(list);
    const created = dialects(() => unread({ task: { ...task, ttl: 5 } })).slice(0, -1);
    for (const dialect of created)
      expect(await dialect.call({ method: 'tools/call' })).toMatchObject({ task: { taskId: 't', ttlMs: 5 } });
    const stateless = dialects(() => unread({ ...task, resultType: 'task' })).at(-1)!;
    expect(await stateless.call({ method: 'tools/call' })).toEqual({ task });
    let round = 0;
    const asking = { resultType: 'input_required', requestState: 's' };
    const patient = dialects(() => unread(round++ === 0 ? asking : { content: [] })).at(-1)!;
    expect(toPlainObject(await patient.call({ method: 'tools/call' }))).toEqual({ content: [] });
    expect(round).toBe(2);
  });

  it('refuses an unknown type of result', async () => {
    const odd = dialects(() => unread({ resultType: 'strange' })).at(-1)!;
    await expect(odd.call({ method: 'tools/call' })).rejects.toThrow('unknown resultType strange');
  });
});
