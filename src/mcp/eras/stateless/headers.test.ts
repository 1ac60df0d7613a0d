import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { enveloped, request } from '../fake-context.contract.ts';
import {
  checkStandardHeaders,
  checkVersionHeader,
  checkParamHeaders,
  paramHeaders,
  toParamHeaders,
  decodeHeader,
  encodeHeader,
  toHeaderText,
  ToolSchemas,
} from './headers.ts';

const from = (headers: Record<string, string>) => (name: string) => headers[name];

function refusal(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).code).toBe('HEADER_MISMATCH');
    return (thrown as GatewayError).message;
  }
}

describe('the version header', () => {
  const check = (header: Record<string, string>) =>
    refusal(() => checkVersionHeader(from(header), enveloped(1, 'tools/list')));

  it('must match the envelope', () => {
    expect(check({ 'mcp-protocol-version': '2026-07-28' })).toBeUndefined();
    expect(check({ 'mcp-protocol-version': '2027-01-01' })).toContain('does not match the body (2026-07-28)');
    expect(check({})).toContain('MCP-Protocol-Version is missing');
  });

  it('is not checked if the body has no version, which is reported as bad params', () => {
    expect(refusal(() => checkVersionHeader(from({}), request(1, 'tools/list')))).toBeUndefined();
  });
});

describe('method and name', () => {
  const check = (method: string, params: JsonObject, headers: Record<string, string>) =>
    refusal(() => checkStandardHeaders(from({ 'mcp-method': method, ...headers }), request(1, method, params)));

  it('must equal the method of the body', () => {
    expect(refusal(() => checkStandardHeaders(from({}), request(1, 'tools/list')))).toContain('Mcp-Method is missing');
    expect(
      refusal(() => checkStandardHeaders(from({ 'mcp-method': 'Tools/List' }), request(1, 'tools/list'))),
    ).toBeDefined();
    expect(check('tools/list', {}, {})).toBeUndefined();
  });

  it.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
    ['tasks/get', 'taskId'],
    ['tasks/update', 'taskId'],
    ['tasks/cancel', 'taskId'],
  ])('%s mirrors its %s', (method, field) => {
    expect(check(method, { [field]: 'x' }, { 'mcp-name': 'x' })).toBeUndefined();
    expect(check(method, { [field]: 'x' }, { 'mcp-name': 'y' })).toContain('Mcp-Name does not match the body (x)');
    expect(check(method, { [field]: 'x' }, {})).toContain('Mcp-Name is missing');
    expect(check(method, {}, {})).toBeUndefined();
    expect(check(method, { [field]: 7 }, {})).toBeUndefined();
  });

  it('are compared after base64 decoding, and bad base64 is refused', () => {
    expect(check('tools/call', { name: 'é' }, { 'mcp-name': '=?base64?w6k=?=' })).toBeUndefined();
    expect(check('tools/call', { name: 'é' }, { 'mcp-name': '=?base64?w6k?=' })).toBeDefined();
  });

  it('are shortened in the error', () => {
    expect(check('tools/call', { name: 'x'.repeat(500) }, { 'mcp-name': 'y' })!.length).toBeLessThan(160);
  });
});

describe('headers of arguments', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
      flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
    },
  };
  const check = (args: unknown, headers: Record<string, string>) =>
    refusal(() => checkParamHeaders(from(headers), schema, args));

  it('must match the arguments, and numbers by value', () => {
    const args = { region: 'eu', deep: { count: 42 }, flag: true };
    const headers = { 'mcp-param-region': 'eu', 'mcp-param-count': '42.0', 'mcp-param-flag': 'true' };
    expect(check(args, headers)).toBeUndefined();
    expect(toParamHeaders(schema, args)).toEqual({ ...headers, 'mcp-param-count': '42' });
    expect(check(args, { ...headers, 'mcp-param-count': '43' })).toContain('Mcp-Param-Count');
    expect(check(args, { ...headers, 'mcp-param-count': '' })).toContain('Mcp-Param-Count');
    expect(check(args, { ...headers, 'mcp-param-flag': 'True' })).toContain('Mcp-Param-Flag');
    expect(check(args, { 'mcp-param-region': 'eu' })).toContain('is missing');
    expect(check(args, { ...headers, 'mcp-param-region': '=?base64?*?=' })).toContain('Mcp-Param-Region');
  });

  it('must be absent for a missing or null argument', () => {
    expect(check({ region: null }, {})).toBeUndefined();
    expect(check(undefined, {})).toBeUndefined();
    expect(check({ deep: 'odd' }, {})).toBeUndefined();
    expect(check({}, { 'mcp-param-region': 'eu' })).toContain('Mcp-Param-Region');
  });

  it.each([
    ['an empty name', { 'x-mcp-header': '' }],
    ['a name with a blank', { 'x-mcp-header': 'a b' }],
    ['a name with a line break', { 'x-mcp-header': 'a\r\nb' }],
    ['no string', { 'x-mcp-header': 7 }],
    ['an object', { type: 'object', 'x-mcp-header': 'A' }],
    ['a number', { type: 'number', 'x-mcp-header': 'A' }],
  ])('%s makes the schema invalid', (_, property) => {
    expect(paramHeaders({ type: 'object', properties: { a: { type: 'string', ...property } } })).toBe('invalid');
  });

  it('must have unique names, ignoring case, and none for the root', () => {
    const twice = {
      properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } },
    };
    expect(paramHeaders(twice)).toBe('invalid');
    expect(paramHeaders({ type: 'string', 'x-mcp-header': 'A' })).toBe('invalid');
    expect(paramHeaders({ properties: { list: { items: { type: 'string', 'x-mcp-header': 'A' } } } })).toEqual([]);
  });
});

it('any text is encoded as a legal header value and decoded again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const header = encodeHeader(text);
      expect(header).toMatch(/^[\x21-\x7e]?[\x20-\x7e]*$/);
      expect(header.trim()).toBe(header);
      expect(decodeHeader(header)).toBe(text);
    }),
  );
});

it('plain ASCII is not encoded; outer spaces, control characters and text that looks encoded are', () => {
  expect(encodeHeader('get weather')).toBe('get weather');
  expect(encodeHeader('')).toBe('');
  for (const text of [' a', 'a ', 'a\tb', 'a\r\nX: y', 'é', '=?base64?aGk=?=']) {
    expect(encodeHeader(text)).toMatch(/^=\?base64\?[A-Za-z0-9+/]+=*\?=$/);
  }
});

it.each([
  '=?base64?a?=',
  '=?base64?a*bc?=',
  '=?base64?YWJj=?=',
  '=?base64?YW Jj?=',
  '=?base64?YWJj\n?=',
  '=?base64?YW-_?=',
])('a header %j with invalid base64 is refused', (header) => expect(decodeHeader(header)).toBeUndefined());

it('text without exact markers is not decoded', () => {
  for (const header of ['=?BASE64?YWJj?=', '=?base64?YWJj', 'x=?base64?YWJj?=', '=?utf-8?YWJj?=']) {
    expect(decodeHeader(header)).toBe(header);
  }
});

it('header text has decimal integers and boolean words, and nothing else', () => {
  expect([1, -2.5, true, false, 'x'].map(toHeaderText)).toEqual(['1', '-2.5', 'true', 'false', 'x']);
  expect([null, undefined, {}, [], NaN, Infinity].map(toHeaderText)).toEqual(Array(6).fill(undefined));
});

const tool = (name: string, header: unknown) => ({
  name,
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': header } } },
});

test('tools with invalid annotations are removed from lists over HTTP, and named', () => {
  const schemas = new ToolSchemas();
  const list = {
    tools: [tool('good', 'Region'), tool('bad', 'two words'), { name: 'plain', inputSchema: { type: 'object' } }],
    more: 1,
  };
  expect(schemas.learn(list, true)).toEqual({
    result: { tools: [list.tools[0], list.tools[2]], more: 1 },
    refused: ['bad'],
  });
  expect([schemas.has('good'), schemas.has('bad'), schemas.has('plain')]).toEqual([true, false, true]);
});

test('tools with invalid annotations stay without HTTP, and a valid list is the same object', () => {
  const bad = { tools: [tool('bad', 'two words')] };
  expect(new ToolSchemas().learn(bad, false)).toEqual({ result: bad, refused: [] });
  const good = { tools: [tool('good', 'Region'), 'no tool', { name: 'no schema' }] };
  expect(new ToolSchemas().learn(good, true).result).toBe(good);
  const odd = { tools: 5 };
  expect(new ToolSchemas().learn(odd, true).result).toBe(odd);
});

test('headers follow the latest schema of a tool', () => {
  const schemas = new ToolSchemas();
  const call = { name: 'a', arguments: { region: 'eu' } };
  expect(schemas.headersFor(call)).toEqual({});
  schemas.learn({ tools: [tool('a', 'Region')] }, true);
  expect(schemas.headersFor(call)).toEqual({ 'mcp-param-region': 'eu' });
  expect(schemas.headersFor({ name: 'a', arguments: { region: null } })).toEqual({});
  expect(schemas.headersFor({ name: 'a' })).toEqual({});
  schemas.learn({ tools: [tool('a', 'Place')] }, true);
  expect(schemas.headersFor(call)).toEqual({ 'mcp-param-place': 'eu' });
  schemas.learn({ tools: [tool('a', 'two words')] }, true);
  expect(schemas.headersFor(call)).toEqual({});
});

test('a forgotten tool schema is unknown', () => {
  const schemas = new ToolSchemas();
  schemas.learn({ tools: [tool('a', 'Region')] }, true);
  schemas.forget('a');
  expect(schemas.has('a')).toBe(false);
});
