// The server under test for the runs through the gateway: one whose one upstream is a conformance fixture, ours (spoken to in
// one revision) or the one made with SDK v2 (the gateway chooses).
//
//   node tests/conformance/gateway-sut.mjs --port N --upstream stdio|http --revision R | --fixture sdk [--replicas N]
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { createConformanceGateway, FIXTURE } from '../acceptance/conformance-gateway.mjs';
import { fileURLToPath } from 'node:url';
import { freePort, HOST, untilItListens } from './harness/ports.mjs';
import { startReplicas } from '../replicas/processes.mjs';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    upstream: { type: 'string' },
    revision: { type: 'string' },
    fixture: { type: 'string' },
    replicas: { type: 'string' },
  },
});
/** What starts the fixture, but for `--stdio` or `--port N`. */
const PROGRAM =
  values.fixture === 'sdk'
    ? [fileURLToPath(new URL('../peers/conformance/serve.mjs', import.meta.url))]
    : [FIXTURE, 'conformance'];
const { address, end } = values.upstream === 'http' ? await startFixture() : { address: command(), end: () => {} };
const gateway = values.replicas ? await startAll(Number(values.replicas)) : await startOne();

process.once('SIGTERM', async () => {
  await gateway.close();
  end();
  process.exit(0);
});

async function startOne() {
  const one = createConformanceGateway(address, values.revision);
  await one.listen({ port: Number(values.port), host: HOST });
  return one;
}

function startAll(count) {
  const program = fileURLToPath(new URL('../replicas/gateway.mjs', import.meta.url));
  const args = ['conformance', JSON.stringify(address), ...(values.revision ? [values.revision] : [])];
  return startReplicas({ count, port: Number(values.port), program, args });
}

function command() {
  return { command: process.execPath, args: [...PROGRAM, '--stdio'] };
}

async function startFixture() {
  const port = await freePort();
  const child = spawn(process.execPath, [...PROGRAM, '--port', String(port)], { stdio: 'inherit' });
  await untilItListens(port, child);
  return { address: `http://${HOST}:${port}/mcp`, end: () => child.kill() };
}
