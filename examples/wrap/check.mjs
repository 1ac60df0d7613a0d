// Puts `parley wrap` before server.mjs, as a client's configuration would, and calls it with clients of three revisions.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const server = fileURLToPath(new URL('server.mjs', import.meta.url));
const wrapped = { command: process.execPath, args: [parley, 'wrap', '--', process.execPath, server] };

for (const revision of ['2024-11-05', '2025-11-25', '2026-07-28']) {
  const client = await connect(wrapped, { revision });
  assert.equal(client.server.info.name, 'noon', 'the server is presented as itself');
  const { content } = await client.callTool('noon', { city: 'Oslo' });
  await client.close();
  console.log(`${client.server.revision}: ${content[0].text}`);
}

const absent = { command: process.execPath, args: [parley, 'wrap', '--', 'no-such-server'] };
await assert.rejects(connect(absent, { revision: '2025-11-25' }), /command not found: no-such-server/);
console.log('a server that cannot be started is told as an error');
