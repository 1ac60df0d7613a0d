import { expect, it } from 'vitest';
import { readMount } from './http-endpoint.ts';

it('a mount puts all paths next to the chosen one', () => {
  const { toLocal } = readMount('/api/mcp');
  const called = ['/api/mcp', '/api/mcp/notes', '/api/sse', '/api/healthz', '/mcp', '/sse', '/api', '/apix/mcp'];
  expect(called.map(toLocal)).toEqual(['/mcp', '/mcp/notes', '/sse', '/healthz', '', '', '', '']);
});

it('a mount may end in another name than mcp', () => {
  const { toLocal } = readMount('/tools');
  expect(['/tools', '/tools/notes', '/mcp', '/mcp/notes', '/sse'].map(toLocal)).toEqual([
    '/mcp',
    '/mcp/notes',
    '',
    '',
    '/sse',
  ]);
});

it.each(['api/mcp', '/', '/api/', '/a b', '/a?b', ''])('a mount at %j is refused', (path) => {
  expect(() => readMount(path)).toThrow(/write it like \/api\/mcp/);
});
