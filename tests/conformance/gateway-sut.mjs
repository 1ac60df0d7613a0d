// The server under test for the runs through the gateway: one whose one upstream is the conformance fixture.
//
//   node tests/conformance/gateway-sut.mjs --port N --upstream stdio|http --revision R
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { createConformanceGateway, FIXTURE } from '../acceptance/conformance-gateway.mjs';
import { freePort, HOST, untilItListens } from './harness/ports.mjs';

const { values } = parseArgs({
  options: { port: { type: 'string' }, upstream: { type: 'string' }, revision: { type: 'string' } },
});
const { address, end } = values.upstream === 'http' ? await startFixture() : { address: command(), end: () => {} };
const gateway = createConformanceGateway(address, values.revision);
await gateway.listen({ port: Number(values.port), host: HOST });

process.once('SIGTERM', async () => {
  await gateway.close();
  end();
  process.exit(0);
});

function command() {
  return { command: process.execPath, args: [FIXTURE, 'conformance', '--stdio'] };
}

async function startFixture() {
  const port = await freePort();
  const child = spawn(process.execPath, [FIXTURE, 'conformance', '--port', String(port)], { stdio: 'inherit' });
  await untilItListens(port, child);
  return { address: `http://${HOST}:${port}/mcp`, end: () => child.kill() };
}
