// Plays trip.mjs with `parley run`, then serves it: to a client that can be asked, while its server is killed between question
// and answer and started again, and to one that cannot be asked.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const answers = { city: 'Oslo', seat: 'window', ok: true };
const BOOKED = 'Booked: Oslo, window, 40';
const revision = '2026-07-28';
const TRIP_KEY = 'a key of this check alone';

const folder = mkdtempSync(join(tmpdir(), 'parley-flow-'));
const file = join(folder, 'answers.json');
writeFileSync(file, JSON.stringify(answers));
const run = execFileSync(process.execPath, [parley, 'run', here('trip.mjs'), '--answers', file], { encoding: 'utf8' });
rmSync(folder, { recursive: true });
assert.equal(run.trim(), BOOKED);
console.log(`parley run: ${run.trim()}`);

let [server, url] = await serve('0');
let kills = 0;
const client = await connect(url, {
  revision,
  async onElicit({ requestedSchema }) {
    server.kill('SIGKILL');
    await once(server, 'exit');
    [server] = await serve(new URL(url).port);
    kills += 1;
    const content = Object.fromEntries(Object.keys(requestedSchema.properties).map((name) => [name, answers[name]]));
    return { action: 'accept', content };
  },
});
const booked = await client.callTool('trip');
await client.close();
assert.equal(booked.content[0].text, BOOKED);
assert.equal(kills, 3); // as the README says
console.log(`its server killed ${kills} times, before each answer: ${booked.content[0].text}`);

const silent = await connect(url, { revision });
let result = await silent.callTool('trip', { city: 'Oslo', seat: 'window' });
assert.match(result.content[0].text, /Pay 40 for Oslo/);
const handle = result._meta['mcp-parley/handle'];
result = await silent.callTool('parley_answer', { handle, answer: { ok: true } });
await silent.close();
assert.equal(result.content[0].text, BOOKED);
console.log(`a client that cannot be asked: ${result.content[0].text}`);
server.kill();

async function serve(port) {
  const child = spawn(process.execPath, [here('server.mjs')], {
    env: { ...process.env, TRIP_KEY, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return [child, line.trim()];
}
