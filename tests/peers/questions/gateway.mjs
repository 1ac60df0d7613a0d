// The gateway between the clients and one server that asks, as a process: `node gateway.mjs SERVER-SETTINGS HURRY-MS`, and it
// prints two URLs. Both doors lead to the same server; behind the second one nobody is waited for longer than HURRY-MS.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLog, dist } from '../harness/parley.mjs';

const { createGateway } = await import(pathToFileURL(join(dist, '_entries/index.js')).href);
const [settings, hurryMs] = process.argv.slice(2).map((argument) => JSON.parse(argument));
const urls = [];
for (const limits of [{}, { parkedMs: hurryMs }]) {
  const servers = { asks: settings };
  const gateway = createGateway({ servers, limits, startMs: 60_000, log: createLog({ level: 'error' }) });
  urls.push((await gateway.listen({ port: 0, host: '127.0.0.1' })).url);
  process.once('SIGTERM', () => void gateway.close());
}
console.log(JSON.stringify(urls));
