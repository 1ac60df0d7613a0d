import { expect, test } from 'vitest';
import { ToolSchemas } from './headers.ts';

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
