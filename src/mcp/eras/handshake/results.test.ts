import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { parseExactly, writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { RawText } from '../../../kernel/raw/raw-object.ts';
import type { TaskState } from '../../../kernel/target.ts';
import { featuresOf } from './features.ts';
import { fromTask, toHandshakeResult, toTask, toHandshakeEntry, wrapOutputSchema } from './results.ts';

const [oldest, march, june, november] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(featuresOf);
const shape = (revision: string, method: string, result: JsonObject) =>
  toHandshakeResult(method, result, featuresOf(revision)) as JsonObject;

describe('content for older revisions', () => {
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain' };
  const text = { type: 'text', text: 'hello' };

  it('turns audio into an embedded resource for 2024-11-05 only', () => {
    const result = { content: [text, audio], isError: false };
    expect(shape('2024-11-05', 'tools/call', result).content).toEqual([
      text,
      { type: 'resource', resource: { uri: 'content://audio/1', mimeType: 'audio/wav', blob: 'AAAA' } },
    ]);
    for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25', 'DRAFT-2025-v3']) {
      expect(shape(revision, 'tools/call', result)).toEqual(result);
    }
  });

  it('has lastModified from 2025-06-18 on, in tools and prompts', () => {
    const block = { ...text, annotations: { audience: ['user'], lastModified: '2026-01-01T00:00:00Z' } };
    const older = { ...text, annotations: { audience: ['user'] } };
    for (const revision of ['2024-11-05', '2025-03-26']) {
      expect(shape(revision, 'tools/call', { content: [block, text] }).content).toEqual([older, text]);
      const { messages } = shape(revision, 'prompts/get', { messages: [{ role: 'user', content: block }] });
      expect(messages).toEqual([{ role: 'user', content: older }]);
    }
    expect(shape('2025-06-18', 'tools/call', { content: [block] }).content).toEqual([block]);
  });

  it('writes structured content as text with its numbers as they were sent', () => {
    const sent = (content: string) => parseExactly(`{"content":[],"structuredContent":${content}}`) as JsonObject;
    for (const content of ['{"id":12345678901234567890,"list":[1.0]}', '12345678901234567890', '[1e400]']) {
      for (const revision of ['2024-11-05', '2025-03-26'])
        expect(shape(revision, 'tools/call', sent(content)).content).toEqual([{ type: 'text', text: content }]);
    }
    const wrapped = shape('2025-11-25', 'tools/call', sent('12345678901234567890'));
    expect(writeExactly(wrapped.structuredContent)).toBe('{"result":12345678901234567890}');
  });

  it('turns a resource link into text before 2025-06-18', () => {
    const result = { content: [link, { type: 'resource_link', uri: 'file:///b' }] };
    for (const revision of ['2024-11-05', '2025-03-26']) {
      expect(shape(revision, 'tools/call', result).content).toEqual([
        { type: 'text', text: 'a — file:///a (text/plain)' },
        { type: 'text', text: 'file:///b — file:///b' },
      ]);
    }
    expect(shape('2025-06-18', 'tools/call', result)).toEqual(result);
  });

  it('converts the messages of prompts too', () => {
    const result = {
      messages: [
        { role: 'user', content: audio },
        { role: 'assistant', content: link },
      ],
    };
    expect(shape('2024-11-05', 'prompts/get', result).messages).toMatchObject([
      { role: 'user', content: { type: 'resource' } },
      { role: 'assistant', content: { type: 'text' } },
    ]);
    expect(shape('2025-11-25', 'prompts/get', result)).toBe(result);
  });

  it('returns the same object if nothing changes', () => {
    const result = { content: [text], isError: false };
    for (const features of [oldest, march, june, november]) {
      expect(toHandshakeResult('tools/call', result, features!)).toBe(result);
    }
  });
});

describe('structured results', () => {
  it('are dropped before 2025-06-18, and added as text if there is no other', () => {
    expect(shape('2025-03-26', 'tools/call', { content: [], structuredContent: { a: 1 } })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
    });
    const told = { content: [{ type: 'text', text: 'one' }], structuredContent: { a: 1 } };
    expect(shape('2024-11-05', 'tools/call', told)).toEqual({ content: [{ type: 'text', text: 'one' }] });
  });

  it.each([[[1, 2]], [null], ['x'], [7], [false]])('wrap %j, because only an object is allowed', (value) => {
    for (const revision of ['2025-06-18', '2025-11-25']) {
      expect(shape(revision, 'tools/call', { content: [], structuredContent: value })).toEqual({
        content: [{ type: 'text', text: JSON.stringify(value) }],
        structuredContent: { result: value },
      });
    }
  });
});

describe('other results', () => {
  it('carry no cache hints', () => {
    const hints = { ttlMs: 5, cacheScope: 'public' };
    const lists = { 'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources' };
    for (const [method, key] of Object.entries(lists)) {
      expect(shape('2025-11-25', method, { [key]: [], nextCursor: 'n', ...hints })).toEqual({
        [key]: [],
        nextCursor: 'n',
      });
    }
    expect(shape('2025-11-25', 'resources/templates/list', { resourceTemplates: [], ...hints })).toEqual({
      resourceTemplates: [],
    });
    expect(shape('2025-11-25', 'resources/read', { contents: [], ...hints })).toEqual({ contents: [] });
  });

  it('have completion values with descriptions in 2024-11-05 only', () => {
    const completion = { values: ['a', { value: 'b', description: 'B' }], total: 2 };
    expect(shape('2024-11-05', 'completion/complete', { completion })).toEqual({ completion });
    for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      expect(shape(revision, 'completion/complete', { completion })).toEqual({
        completion: { values: ['a', 'b'], total: 2 },
      });
    }
  });

  it('show a task without its payloads', () => {
    const task: TaskState = {
      taskId: 't',
      status: 'input_required',
      createdAt: 'c',
      lastUpdatedAt: 'u',
      ttlMs: 5,
      pollIntervalMs: 7,
      inputRequests: { a: { method: 'roots/list' } },
    };
    expect(shape('2025-11-25', 'tools/call', { task })).toEqual({
      task: { taskId: 't', status: 'input_required', createdAt: 'c', lastUpdatedAt: 'u', ttl: 5, pollInterval: 7 },
    });
  });

  it('show a failed tool as a failed task', () => {
    const task = { taskId: 't', status: 'completed', createdAt: '', lastUpdatedAt: '', ttlMs: null } as const;
    expect(toTask({ ...task, result: { content: [], isError: true } })).toMatchObject({ status: 'failed', ttl: null });
    expect(toTask({ ...task, result: { content: [], isError: false } })).toMatchObject({ status: 'completed' });
  });
});

describe('round trips', () => {
  const span = fc.option(fc.nat(), { nil: undefined });
  const state: fc.Arbitrary<TaskState> = fc
    .record({
      taskId: fc.string(),
      status: fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled'),
      statusMessage: fc.option(fc.string(), { nil: undefined }),
      createdAt: fc.string(),
      lastUpdatedAt: fc.string(),
      ttlMs: fc.option(fc.nat(), { nil: null }),
      pollIntervalMs: span,
    })
    .map((task) => JSON.parse(JSON.stringify(task)) as TaskState);

  it('preserve a task of 2025-11-25', () => {
    fc.assert(
      fc.property(state, (task) => {
        expect(fromTask(toTask(task))).toEqual(task);
      }),
    );
  });

  it('convert any call result to every revision', () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.string() }),
      fc.record({ type: fc.constant('audio'), data: fc.base64String(), mimeType: fc.string() }),
      fc.record({ type: fc.constant('resource_link'), uri: fc.webUrl() }),
    );
    const result = fc.record(
      {
        content: fc.array(block),
        structuredContent: fc.jsonValue(),
        isError: fc.boolean(),
        _meta: fc.dictionary(fc.string(), fc.jsonValue()),
      },
      { requiredKeys: ['content'] },
    );
    fc.assert(
      fc.property(
        result,
        fc.constantFrom('2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'),
        (neutral, revision) => {
          const before = JSON.stringify(neutral);
          const encoded = shape(revision, 'tools/call', neutral);
          expect(JSON.stringify(neutral)).toBe(before);
          expect(encoded.isError).toBe(neutral.isError);
          expect(encoded._meta).toEqual(neutral._meta);
          expect((encoded.content as unknown[]).length).toBeGreaterThanOrEqual(neutral.content.length);
          if (revision < '2025-06-18') expect('structuredContent' in encoded).toBe(false);
          else if ('structuredContent' in neutral)
            expect(unwrapped(encoded, neutral)).toEqual(neutral.structuredContent);
        },
      ),
    );
  });

  function unwrapped(encoded: JsonObject, neutral: JsonObject): unknown {
    const value = neutral.structuredContent;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? encoded.structuredContent : (encoded.structuredContent as JsonObject).result;
  }
});

describe('what belongs to the other era', () => {
  const server = { 'io.modelcontextprotocol/serverInfo': { name: 's', version: '1' } };
  const content = [{ type: 'text', text: 'x' }];

  it.each([
    [server, undefined],
    [{ ...server, mine: 1 }, { mine: 1 }],
    [{ mine: 1 }, { mine: 1 }],
  ])('is removed from _meta: %j', (_meta, kept) => {
    const plain = { content, _meta };
    for (const result of [plain, new RawText(plain, JSON.stringify(plain))]) {
      const encoded = JSON.stringify(toHandshakeResult('tools/call', result, november!));
      expect(JSON.parse(encoded)).toEqual({ content, ...(kept && { _meta: kept }) });
    }
  });
});

const tool = {
  name: 't',
  title: 'T',
  description: 'd',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { a: {} } },
  annotations: { readOnlyHint: true },
  icons: [{ src: 'data:' }],
  execution: { taskSupport: 'optional' },
  _meta: { x: 1 },
};
const listed = (entry: JsonObject, revision: string) =>
  Object.keys(toHandshakeEntry(entry, featuresOf(revision))).toSorted();

describe('list entries', () => {
  it('of tools have only the fields of their revision', () => {
    expect(listed(tool, '2024-11-05')).toEqual(['description', 'inputSchema', 'name']);
    expect(listed(tool, '2025-03-26')).toEqual(['annotations', 'description', 'inputSchema', 'name']);
    const june = ['_meta', 'annotations', 'description', 'inputSchema', 'name', 'outputSchema', 'title'];
    expect(listed(tool, '2025-06-18')).toEqual(june);
    expect(listed(tool, 'DRAFT-2025-v3')).toEqual(june);
    expect(listed(tool, '2025-11-25')).toEqual([...june, 'execution', 'icons'].toSorted());
  });

  it('of resources have lastModified from 2025-06-18 on', () => {
    const resource = { uri: 'a:', name: 'a', annotations: { priority: 1, lastModified: '2026-01-01T00:00:00Z' } };
    for (const revision of ['2024-11-05', '2025-03-26']) {
      expect(toHandshakeEntry(resource, featuresOf(revision)).annotations).toEqual({ priority: 1 });
    }
    expect(toHandshakeEntry(resource, featuresOf('2025-06-18'))).toEqual(resource);
  });

  it('of resources have annotations in every revision', () => {
    const resource = { uri: 'a:', name: 'a', annotations: { priority: 1 }, title: 'A', icons: [] };
    expect(listed(resource, '2024-11-05')).toEqual(['annotations', 'name', 'uri']);
  });

  it("a prompt's arguments lose their titles with it", () => {
    const prompt = { name: 'p', title: 'P', arguments: [{ name: 'a', title: 'A', required: true }] };
    expect(toHandshakeEntry(prompt, featuresOf('2025-03-26'))).toEqual({
      name: 'p',
      arguments: [{ name: 'a', required: true }],
    });
    expect(toHandshakeEntry(prompt, featuresOf('2025-06-18'))).toEqual(prompt);
  });

  it('convert each definition once', () => {
    const features = featuresOf('2024-11-05');
    expect(toHandshakeEntry(tool, features)).toBe(toHandshakeEntry(tool, features));
    expect(toHandshakeEntry(tool, features)).not.toBe(toHandshakeEntry(tool, featuresOf('2025-03-26')));
  });
});

describe('output schemas', () => {
  it('of an object are left alone', () => {
    expect(wrapOutputSchema(tool.outputSchema)).toBe(tool.outputSchema);
    expect(wrapOutputSchema(undefined)).toBeUndefined();
  });

  it('of anything else are wrapped as `result`, with $schema outside', () => {
    expect(wrapOutputSchema({ $schema: 's', type: 'array', items: { type: 'string' } })).toEqual({
      $schema: 's',
      type: 'object',
      properties: { result: { type: 'array', items: { type: 'string' } } },
      required: ['result'],
    });
    expect(wrapOutputSchema({ type: ['string', 'null'] })).toMatchObject({ required: ['result'] });
  });

  it.each([
    {},
    { type: ['object', 'null'] },
    { anyOf: [{ type: 'object' }, { type: 'array' }] },
    { $ref: '#/$defs/a' },
  ])('that allow objects and other values (%j) are left out', (schema) => {
    expect(wrapOutputSchema(schema)).toBeUndefined();
    expect('outputSchema' in toHandshakeEntry({ ...tool, outputSchema: schema }, featuresOf('2025-11-25'))).toBe(false);
  });

  it('keep valid references when they are wrapped', () => {
    const schema = {
      type: 'array',
      items: { $ref: '#/$defs/node' },
      $defs: {
        node: {
          type: 'object',
          properties: { next: { $ref: '#/$defs/node' }, all: { $ref: '#' }, named: { $ref: '#anchor' } },
        },
      },
    };
    const { result } = (wrapOutputSchema(schema) as { properties: { result: typeof schema } }).properties;
    expect(result.items).toEqual({ $ref: '#/properties/result/$defs/node' });
    expect(result.$defs.node.properties).toEqual({
      next: { $ref: '#/properties/result/$defs/node' },
      all: { $ref: '#/properties/result' },
      named: { $ref: '#anchor' },
    });
  });

  it('keep data, embedded documents and properties with odd names unchanged', () => {
    const own = { $id: 'https://x/y', $ref: '#/a' };
    const data = { $ref: '#/a' };
    const schema = {
      type: 'array',
      default: data,
      examples: [data],
      enum: [data],
      items: { const: data, anyOf: [own, { $ref: 'other.json#/a' }] },
      $defs: { odd: { properties: { default: { $ref: '#/b' }, $ref: { type: 'string' } } } },
    };
    const { result } = (wrapOutputSchema(schema) as { properties: { result: typeof schema } }).properties;
    expect(result).toEqual({
      ...schema,
      $defs: { odd: { properties: { default: { $ref: '#/properties/result/b' }, $ref: { type: 'string' } } } },
    });
  });
});
