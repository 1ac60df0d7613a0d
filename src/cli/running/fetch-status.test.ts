import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { fetchStatus } from './fetch-status.ts';

it('no connection is used twice: a busy gateway may close one that it takes for idle', async () => {
  const seen: unknown[] = [];
  const server = createServer(({ url, headers }, response) => {
    seen.push([url, headers.connection]);
    response.writeHead(url === '/readyz' ? 200 : 404).end(JSON.stringify({ servers: { one: 'ready' } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { servers } = await fetchStatus(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    expect(servers).toMatchObject([{ name: 'one', state: 'ready' }]);
  } finally {
    server.close();
  }
  expect(seen).toEqual([
    ['/status', 'close'],
    ['/readyz', 'close'],
  ]);
});
