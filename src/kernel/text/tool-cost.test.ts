import { expect, it } from 'vitest';
import { tokensOfTool, tokensOfTools } from './tool-cost.ts';

it('a tool costs a quarter of the bytes of its name, description and input schema, and nothing for what models do not see', () => {
  const tool = { name: 'a', description: 'é', inputSchema: { type: 'object' } };
  const bytes = Buffer.byteLength(JSON.stringify(tool));
  expect(tokensOfTool(tool)).toBe(Math.ceil(bytes / 4));
  expect(tokensOfTool({ ...tool, outputSchema: { type: 'object' }, _meta: { x: 'y'.repeat(1000) } })).toBe(
    tokensOfTool(tool),
  );
});

it('tools without a description or a schema are counted, and a list costs what its tools cost', () => {
  expect(tokensOfTool({ name: 'a' })).toBe(3);
  expect(tokensOfTools([{ name: 'a' }, { name: 'a' }])).toBe(6);
  expect(tokensOfTools([])).toBe(0);
});
