// Starts server.mjs on a free port, calls it over every transport it mounts, and exits non-zero when it does not behave.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const program = fileURLToPath(new URL('server.mjs', import.meta.url));
const child = spawn(process.execPath, [program], {
  env: { ...process.env, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const [url] = await once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(10_000) });
  const origin = new URL(url).origin;

  const sse = { url: `${origin}/sse`, transport: 'http+sse' };
  for (const address of [url, sse, `${origin.replace('http', 'ws')}/ws`]) {
    const client = await connect(address);
    const { structuredContent } = await client.callTool('now');
    assert.ok(Date.parse(structuredContent.time), 'the tool tells a time');
    await client.close();
    console.log(`${client.transport}: ok, ${client.server.revision}`);
  }

  assert.equal(await statusOf(`${origin}/health`), 200);
  assert.equal(await statusOf(url, { host: 'evil.example' }), 403, 'a foreign Host is refused');
} finally {
  child.kill();
}

async function statusOf(address, headers = {}) {
  const [response] = await once(request(address, { headers }).end(), 'response');
  response.resume();
  return response.statusCode;
}
