// Starts server.mjs on a free port, calls the gateway in it, and exits non-zero when it does not behave.
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
  await assert.rejects(connect(url), { code: 'UPSTREAM_UNAUTHORIZED' });

  const client = await connect({ url, headers: { authorization: 'Bearer abc' } });
  const { content } = await client.callTool('noon', { city: 'Oslo' });
  await client.close();
  console.log(content[0].text);

  const counted = await (await fetch(new URL('/calls', url))).json();
  assert.equal(counted['tools/call'], 1, 'the step has seen the call');
  console.log(`tools/call: ${counted['tools/call']}`);
} finally {
  app.kill();
  const [status] = await once(app, 'exit');
  assert.equal(status, 0, 'it ends cleanly');
}
