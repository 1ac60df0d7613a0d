// A gateway before one server, reached over stdio or HTTP. As a program (`node gateway.mjs ADDRESS-AS-JSON`) it is the former.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createLog, dist } from '../harness/parley.mjs';

/** Without ways of its own to ask, the gateway adds no tool. */
const EXACT = { ask: { channels: [] } };
const self = fileURLToPath(import.meta.url);

/** `{ way, close }` for a client. */
export async function createGateway(transport, { url, command, args }) {
  const address = url ?? { command, args };
  if (transport === 'stdio') {
    return { way: { command: process.execPath, args: [self, JSON.stringify(address)] }, close() {} };
  }
  const gateway = await make(address);
  const { port } = await gateway.listen({ port: 0 });
  return { way: { url: `http://127.0.0.1:${port}/mcp` }, close: () => gateway.close() };
}

async function make(server) {
  const { createGateway: create } = await import(pathToFileURL(join(dist, '_entries/index.js')).href);
  return create({ servers: { one: server }, ...EXACT, log: createLog({ level: 'error' }) });
}

if (process.argv[1] === self) {
  const gateway = await make(JSON.parse(process.argv[2]));
  const { closed } = await gateway.listen({ stdio: true });
  process.exit(await closed);
}
