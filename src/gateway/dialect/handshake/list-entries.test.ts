import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../protocol/message.ts';
import { featuresOf } from '../revisions.ts';
import { toHandshakeEntry, wrapOutputSchema } from './results.ts';

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
