// A gateway with many tools, of which a client sees only what it has looked for. Exits non-zero when it misbehaves.
import assert from 'node:assert/strict';
import { connect, createGateway, createLog, createServer } from 'mcp-parley';
import { findTools } from './find-tools.mjs';

const log = createLog({ level: 'error' });
const library = createServer({ name: 'library', version: '1.0.0', log });
for (let shelf = 1; shelf <= 100; shelf++) library.tool(`shelf_${shelf}`, {}, () => `Shelf ${shelf}`);
library.tool(
  'reserve_book',
  { description: 'Keeps a book for you', input: { title: 'string' } },
  ({ title }) => `${String(title)} is yours`,
);

const gateway = createGateway({ servers: { library }, steps: [findTools()], ask: { channels: [] }, log });
const { url } = await gateway.listen({ port: 0 });
try {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const client = await connect(url, { revision, log });
    const names = async () => (await client.listTools()).map(({ name }) => name).join(', ');
    const before = await names();
    await client.callTool('find_tools', { query: 'book' });
    const after = await names();
    const { content } = await client.callTool('reserve_book', { title: 'Emma' });
    console.log(`${revision}: ${before} → ${after}: ${content[0].text}`);
    assert.equal(after, 'find_tools, reserve_book');
    await client.close();
  }
} finally {
  await gateway.close();
}
