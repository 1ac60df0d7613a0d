// One replica, for the suites: `conformance ADDRESS [REVISION]` before a fixture of the official suite, or `kit FIXTURE [URL]` as, or before, a fixture of the
// acceptance kit. Started by processes.mjs.
import { createGateway } from 'mcp-parley';
import { createConformanceGateway } from '../acceptance/conformance-gateway.mjs';
import { CHAINS } from '../acceptance/chain-gateways.mjs';
import { optionsOf } from './options.mjs';

const [kind, what, more] = process.argv.slice(2);
const options = await optionsOf();

const MAKERS = {
  conformance: () => createConformanceGateway(JSON.parse(what), more, options),
  kit: () => (CHAINS[what] ? CHAINS[what](options) : createGateway({ servers: { fixture: more }, ...options })),
};
const gateway = MAKERS[kind]();
const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
console.log(url);

process.once('SIGTERM', async () => {
  await gateway.close();
  await options.state.close();
  process.exit(0);
});
