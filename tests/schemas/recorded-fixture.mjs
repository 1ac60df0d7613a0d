// A fixture of the acceptance kit, as `tests/acceptance/fixture.mjs` serves it, with everything that is said written to a
// file: `node tests/schemas/recorded-fixture.mjs FOLDER FIXTURE --stdio | --port N | --connect URL`.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startHttpTap } from './tap/tap-http.mjs';
import { tapStdio } from './tap/tap-stdio.mjs';

const [folder, fixture, listen, value] = process.argv.slice(2);
const side = listen === '--connect' ? 'client' : 'server';
const file = join(folder, `${side}-${fixture}-${process.pid}.jsonl`);
const record = (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`);

if (listen === '--stdio') {
  tapStdio(file);
  await serve('--stdio');
} else if (listen === '--port') {
  const port = await freePort();
  await serve('--port', String(port));
  await startHttpTap(`http://127.0.0.1:${port}`, record, { port: Number(value) });
} else {
  const { host, pathname } = new URL(value);
  const tap = await startHttpTap(`http://${host}`, record);
  await serve('--connect', `${tap.origin.replace('http', 'ws')}${pathname}`);
  await tap.close();
}

/** Resolves when a server listens, or when a client is done. */
async function serve(...args) {
  process.argv = [...process.argv.slice(0, 2), fixture, ...args];
  await import('../acceptance/fixture.mjs');
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
