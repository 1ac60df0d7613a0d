// Plays the migration with `parley run`. Then serves the questionnaire to a client that shows forms, kills the server after every 90 answers,
// and goes on.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const processes = new Set();
process.on('exit', () => processes.forEach((child) => child.kill('SIGKILL')));

/** Its first lines. */
async function start(program, env, count) {
  const options = { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] };
  const child = spawn(process.execPath, ['--import', 'tsx', here(program)], options);
  processes.add(child);
  const lines = [];
  for await (const line of createInterface({ input: child.stdout })) if (lines.push(line) === count) break;
  return [child, lines];
}

const [, told] = await start('world.ts', {}, 2);
const env = Object.fromEntries(told.flatMap((line) => line.split(' ').slice(1)).map((pair) => pair.split('=')));
const folder = dirname(env.DATA);

const answers = join(folder, 'answers.json');
writeFileSync(answers, JSON.stringify({ tenant: 'acme', from: 'eu', to: 'us', agreed: true }));
const run = [parley, 'run', here('migration.ts'), '--answers', answers, '--json'];
const moved = execFileSync(process.execPath, run, { env: { ...process.env, ...env }, encoding: 'utf8' });
assert.deepEqual(readdirSync(join(env.DATA, 'eu')), []);
console.log(`the migration: ${JSON.stringify(JSON.parse(moved))}`);

let [server, [url]] = await start('server.ts', { ...env, PORT: '0' }, 1);
const { port } = new URL(url);
const said = { supplier: 'acme', level: 'managed', has: true, file: true, resume: true };
let asked = 0;
let kills = 0;
const onElicit = async ({ requestedSchema }) => {
  const [name] = Object.keys(requestedSchema.properties);
  if (name !== 'resume' && ++asked % 90 === 0) {
    server.kill('SIGKILL');
    await once(server, 'exit');
    [server] = await start('server.ts', { ...env, PORT: port }, 1);
    kills++;
  }
  return { action: 'accept', content: { [name]: said[name.split('.').at(-1)] } };
};
let report;
while (report === undefined) {
  const client = await connect(url, { revision: '2025-11-25', onElicit });
  const called = client.callTool('questionnaire', {});
  report = await called.then(
    ({ structuredContent }) => structuredContent,
    () => undefined, // the server was killed: whoever calls again goes on from there
  );
  await client.close();
}
assert.ok(kills >= 2);
assert.deepEqual(readdirSync(env.REPORTS), [report.report]);
console.log(`the questionnaire, its server killed ${kills} times: weakest in ${report.weakest}, one report`);
rmSync(folder, { recursive: true });
process.exit();
