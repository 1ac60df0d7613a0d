// Starts server.mjs on a free port, calls the gateway in it as clients of both eras, and exits non-zero when it misbehaves.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const program = fileURLToPath(new URL('server.mjs', import.meta.url));
const env = { ...process.env, PORT: '0', TOKEN: 'abc' };
const app = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });

try {
  const [url] = await once(createInterface({ input: app.stdout }), 'line', { signal: AbortSignal.timeout(30_000) });
  assert.match(await (await fetch(new URL('/', url))).text(), /An app with a gateway/);
  assert.equal((await fetch(new URL('/elsewhere', url))).status, 404);
  await assert.rejects(connect(url), { code: 'UPSTREAM_UNAUTHORIZED' });

  for (const revision of ['2025-06-18', '2026-07-28']) {
    for (const path of ['/mcp', '/mcp/noon']) {
      const headers = { authorization: 'Bearer abc' };
      const client = await connect({ url: new URL(path, url), headers }, { revision });
      const { content } = await client.callTool('noon', { city: 'Oslo' });
      await client.close();
      console.log(`${path}, ${revision}: ${content[0].text}`);
    }
  }
} finally {
  app.kill();
  const [status] = await once(app, 'exit');
  assert.equal(status, 0, 'it ends cleanly');
}
