// A request without an id is a notification by form. A careless server may run it all the same, past the audit log.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGateway } from 'mcp-parley';
import { send } from '../helpers/http-wire.ts';
import { openSession, rpc } from '../helpers/mcp-http.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const SERVER = `
const { appendFileSync } = require('node:fs');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  appendFileSync(process.argv[2], method + '\\n');
  const info = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? info : { tools: [] } }) + '\\n');
});`;

test('requests without an id are not passed to servers, custom notifications are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-no-id-'));
  const [program, seen] = [join(folder, 'server.cjs'), join(folder, 'seen')];
  writeFileSync(program, SERVER);
  writeFileSync(seen, '');
  const gateway = createGateway({ servers: { careless: { command: process.execPath, args: [program, seen] } } });
  try {
    const { url } = await gateway.listen({ port: 0 });
    const session = await openSession(url);
    const headers = { 'mcp-session-id': session.headers['mcp-session-id']! };
    const tell = (method: string) =>
      send(url, { body: JSON.stringify({ jsonrpc: '2.0', method, params: { name: 'x' } }), headers });
    for (const method of ['tools/call', 'resources/read', 'tasks/cancel', 'interaction.start', 'acme/told']) {
      expect((await tell(method)).status).toBe(202);
    }
    await send(url, { body: rpc('tools/list'), headers });
    await expect.poll(() => readFileSync(seen, 'utf8'), { timeout: 60_000 }).toContain('acme/told');
    expect(readFileSync(seen, 'utf8')).not.toMatch(/tools\/call|resources\/read|tasks\/cancel|interaction/);
  } finally {
    await gateway.close();
    removeFolder(folder);
  }
});
