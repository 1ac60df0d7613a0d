// The program under test of the acceptance kit, as replicas: `kit-sut.mjs COUNT FIXTURE --port N`. A fixture that is a gateway is replicated; another one
// runs once, behind gateways.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CHAINS } from '../acceptance/chain-gateways.mjs';
import { freePort, untilItListens } from '../conformance/harness/ports.mjs';
import { end, startReplicas } from './processes.mjs';

const [count, fixture, , port] = process.argv.slice(2);
const server = CHAINS[fixture] ? undefined : await startFixture();
const replicas = await startReplicas({
  count: Number(count),
  port: Number(port),
  program: fileURLToPath(new URL('gateway.mjs', import.meta.url)),
  args: ['kit', fixture, ...(server ? [server.url] : [])],
});

process.once('SIGTERM', async () => {
  await replicas.close();
  await server?.close();
  process.exit(0);
});

async function startFixture() {
  const own = await freePort();
  const program = fileURLToPath(new URL('../acceptance/fixture.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, fixture, '--port', String(own)], { stdio: 'inherit' });
  await untilItListens(own, child);
  return { url: `http://127.0.0.1:${own}/mcp`, close: () => end(child, 'SIGTERM') };
}
