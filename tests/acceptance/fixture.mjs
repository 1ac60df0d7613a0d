// Serves a fixture of the acceptance kit: `node tests/acceptance/fixture.mjs <fixture> --stdio | --port N | --connect
// URL`. Written with the public API only, as a user would.
import { CHAINS } from './chain-gateways.mjs';
import { CLIENTS } from './clients.mjs';
import { createConformanceServer } from './conformance-server.mjs';
import { createDemoServer } from './demo-server.mjs';
import { createEmptyServer, createPagedServer } from './small-servers.mjs';

const SERVERS = {
  demo: () => createDemoServer(),
  'flow-off': () => createDemoServer({ interactive: false }),
  'flow-stateless': () => createDemoServer({ tokens: 'signed', keys: ['a fixed key of the fixture'] }),
  empty: createEmptyServer,
  paged: createPagedServer,
  ...CHAINS,
  conformance: () => createConformanceServer(),
  'conformance-flows': () => createConformanceServer({ flows: true }),
};

const [fixture, listen, value] = process.argv.slice(2);

if (listen === '--connect' && CLIENTS[fixture]) await CLIENTS[fixture](value);
else if (SERVERS[fixture] && (listen === '--stdio' || listen === '--port')) await serve(SERVERS[fixture]());
else {
  console.error(`usage: node tests/acceptance/fixture.mjs <fixture> --stdio | --port N | --connect URL
servers: ${Object.keys(SERVERS).join(', ')}; clients: ${Object.keys(CLIENTS).join(', ')}`);
  process.exitCode = 2;
}

async function serve(server) {
  if (listen === '--stdio') {
    const { closed } = await server.listen({ stdio: true });
    process.exit(await closed);
  }
  await server.listen({ port: Number(value), host: '127.0.0.1' });
  process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
}
