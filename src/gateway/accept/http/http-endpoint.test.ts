import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { fakeContext } from '../../dialect/fake-context.contract.ts';
import { createHttpEndpoint } from './http-endpoint.ts';

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
