// The fixtures `empty` and `paged`.
import { createServer } from 'mcp-parley';

export function createEmptyServer() {
  return createServer({ name: 'example-server', version: '1.0.0', declare: ['tools'] });
}

export function createPagedServer() {
  const server = createServer({ name: 'example-server', version: '1.0.0', pageSize: 10 });
  for (let i = 0; i < 25; i++) {
    server.resource(`file:///paged/${i}.txt`, { name: `Entry ${i}`, mimeType: 'text/plain' }, () => `Entry ${i}`);
  }
  return server;
}
