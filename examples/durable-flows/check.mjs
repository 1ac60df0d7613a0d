// Plays the migration with `parley run`. Then serves the questionnaire to a client that shows forms, kills the server after every 90 answers,
// and goes on. At last an incident, in which the head of operations and the monitoring have a part; the server is killed before each of theirs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';

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
let isUp = Promise.resolve();
function killServer() {
  server.kill('SIGKILL');
  isUp = once(server, 'exit').then(async () => {
    [server] = await start('server.ts', { ...env, PORT: port }, 1);
    kills++;
  });
  return isUp;
}
const onElicit = async ({ requestedSchema }) => {
  const [name] = Object.keys(requestedSchema.properties);
  if (name !== 'resume' && ++asked % 90 === 0) await killServer();
  return { action: 'accept', content: { [name]: said[name.split('.').at(-1)] } };
};
let report;
while (report === undefined) {
  await isUp;
  const client = await connect(url, { revision: '2025-11-25', onElicit });
  const called = client.callTool('questionnaire', {});
  report = await called.then(
    ({ structuredContent }) => structuredContent,
    () => undefined, // the server was killed: the next call goes on from there
  );
  await client.close();
}
assert.ok(kills >= 2);
assert.deepEqual(readdirSync(env.REPORTS), [report.report]);
console.log(`the questionnaire, its server killed ${kills} times: weakest in ${report.weakest}, one report`);

// A change of mind: the last answer is taken back, and what was said of another subject is changed. No other answer is lost by it.
const ben = await connect({ url, headers: { 'x-user': 'ben' } });
const { sessionId: mine } = await ben.request('interaction.start', { toolName: 'questionnaire' });
const state = () => ben.request('interaction.getState', { sessionId: mine });
const asks = async () => (await state()).currentPrompt.promptId.split('~')[0];
const bens = {
  supplier: 'initech',
  'accounts.level': 'basic',
  'accounts.plan': 'Next year',
  'passwords.level': 'none',
  'passwords.plan': 'A vault, in June',
};
async function answerUntil(last) {
  for (;;) {
    const { promptId } = (await state()).currentPrompt;
    const key = promptId.split('~')[0];
    if (key === last) return;
    const value = bens[key] ?? said[key.split('.').at(-1)];
    await ben.request('interaction.respond', { sessionId: mine, promptId, response: { value } });
  }
}
await answerUntil('second-factors.level');
await ben.request('interaction.back', { sessionId: mine });
assert.equal(await asks(), 'passwords.plan');
await answerUntil('second-factors.level');
await ben.request('interaction.edit', { sessionId: mine, key: 'accounts.level', value: 'none' });
assert.equal(await asks(), 'accounts.plan'); // who had something was not asked for a plan
await answerUntil('second-factors.level');
const { accumulatedData: kept } = await state();
assert.equal(kept['passwords.plan'], bens['passwords.plan']);
await ben.request('interaction.cancel', { sessionId: mine });
await ben.close();
console.log(
  `a change of mind: accounts have “${kept['accounts.level']}” now, and passwords still “${kept['passwords.plan']}”`,
);

/** What the company is told about somebody or something. */
async function toldOf(what, about) {
  for (;;) {
    const lines = readFileSync(join(folder, 'changes.jsonl'), 'utf8').trim().split('\n');
    const found = lines.map((line) => JSON.parse(line)).find((one) => one.what === what && one.about === about);
    if (found) return found.to;
    await delay(20);
  }
}

const answersOf = {
  incident: 'friday',
  severity: 'major',
  services: ['api', 'checkout'],
  by: 'chat',
  words: 'Sorry for that',
  log: {
    name: 'api.log',
    mimeType: 'text/plain',
    data: Buffer.from('503 503 503').toString('base64'),
  },
  'api.impact': 'down',
  'api.token': 'a token',
  'checkout.impact': 'slow',
};
const caller = await connectFlows({ url, headers: { 'x-user': 'ada' } }, { attempts: 12 }); // a server takes its time to start
const handled = caller.run('handle_incident', {}, { onPrompt: ({ promptId }) => answersOf[promptId.split('~')[0]] });

const [sessionId, promptId] = (await toldOf('asked', 'head-of-operations')).split(' ');
await killServer();
const head = await connect({ url, headers: { 'x-user': 'head-of-operations' } });
await head.request('interaction.respond', { sessionId, promptId, response: { value: true } });
await head.close();

const allClear = await toldOf('watch', 'friday');
await killServer();
assert.equal((await fetch(allClear, { method: 'POST', body: '{"errorsPerMinute":0}' })).status, 200);

const { result } = await handled;
await caller.close();
assert.deepEqual(result.done, { api: 'failed over', checkout: 'restarted' });
console.log(`the incident, approved and all clear: ${JSON.stringify(result.done)}, and customers read: ${result.said}`);
rmSync(folder, { recursive: true });
process.exit();
