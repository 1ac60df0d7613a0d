// The gateway of the soak, as a process of its own: `node gateway.mjs SETTINGS-AS-JSON` prints its URL, and answers each line on stdin with
// how much memory it uses after a collection.
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { createLog, dist } from '../harness/parley.mjs';

const { createGateway } = await import(pathToFileURL(join(dist, '_entries/index.js')).href);
const { limits } = JSON.parse(process.argv[2]);
const program = fileURLToPath(new URL('servers.mjs', import.meta.url));
const servers = Object.fromEntries(
  ['v1', 'v2', 'rude'].map((kind) => [kind, { command: process.execPath, args: [program, kind] }]),
);
const gateway = createGateway({ servers, limits, log: createLog({ level: 'silent' }) });
const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ url }));
for await (const _line of createInterface({ input: process.stdin })) {
  for (let round = 0; round < 3; round++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rss, heapUsed } = process.memoryUsage();
  console.log(JSON.stringify({ rss, heapUsed }));
}
await gateway.close();
process.exit(0);
