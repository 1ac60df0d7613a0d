import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { fakeContext } from '../../eras/fake-context.contract.ts';
import { createHttpEndpoint } from './http-endpoint.ts';
import { readMount } from './mount.ts';

function visit(url: string, host = '127.0.0.1') {
  const told: string[] = [];
  const response = {
    setHeader: () => response,
    writeHead: (status: number) => {
      told.push(String(status));
      return response;
    },
    cork: () => {},
    write: () => true,
    uncork: () => {},
    end: () => response,
  };
  const pages = { '/healthz': () => void told.push('page') };
  const endpoint = createHttpEndpoint(fakeContext(), { pages });
  const request = { url, method: 'GET', headers: { host } } as unknown as IncomingMessage;
  endpoint.handle(request, response as unknown as ServerResponse, () => void told.push('next'));
  return told;
}

it('an endpoint leaves other paths to its app, whatever the Host', () => {
  expect(visit('/')).toEqual(['next']);
  expect(visit('/mcpx?a=/mcp', 'app.example.com')).toEqual(['next']);
  expect(visit('/mcp/part')).toEqual(['next']); // there are no parts here
});

it('an endpoint answers its own paths', () => {
  expect(visit('/healthz?x')).toEqual(['page']);
  expect(visit('/mcp', 'evil.example')).toEqual(['403']);
  expect(visit('/message')).not.toContain('next');
});

it('a mount puts all paths next to the chosen one', () => {
  const { localPathOf } = readMount('/api/mcp');
  const called = ['/api/mcp', '/api/mcp/notes', '/api/sse', '/api/healthz', '/mcp', '/sse', '/api', '/apix/mcp'];
  expect(called.map((url) => localPathOf({ url }))).toEqual(['/mcp', '/mcp/notes', '/sse', '/healthz', '', '', '', '']);
});

it('a mount may end in another name than mcp', () => {
  const { localPathOf } = readMount('/tools');
  expect(['/tools', '/tools/notes', '/mcp', '/mcp/notes', '/sse'].map((url) => localPathOf({ url }))).toEqual([
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
