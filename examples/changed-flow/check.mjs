// Opens a session with the old version, checks the new code against it before the deploy, and goes on with the new one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLog, createServer } from 'mcp-parley';
import { createSqliteStore, serveFlows } from 'mcp-parley/flow';
import { pay as after } from './after.mjs';
import { bank } from './bank.mjs';
import { pay as before } from './before.mjs';
import { pay as careless } from './careless.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-changed-flow-'));
const path = join(folder, 'flows.db');
const me = { principal: 'ada' };
const said = [];

function say(line) {
  said.push(line);
  console.log(line);
}

/** Serves one version over the store, as a process does between two deploys. */
async function deployed(flow, work) {
  const store = await createSqliteStore({ path });
  const server = createServer({ name: 'bank', version: '1.0.0', log: createLog({ level: 'silent' }) });
  const sessions = serveFlows(server, [flow], { store });
  try {
    return await work(sessions);
  } finally {
    await server.close();
    await store.close();
  }
}

const asked = async (turn) => ((await turn.next) ?? turn).questions.map(({ prompt }) => prompt.message).join();

/** What `parley flows replay` says of the open session. */
function replayed(file) {
  const command = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
  const against = fileURLToPath(new URL(file, import.meta.url));
  const args = [command, 'flows', 'replay', '--against', against, '--store', `sqlite:${path}`, '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  const [{ verdict, words }] = JSON.parse(stdout);
  return `${verdict}: ${words}`;
}

try {
  const sessionId = await deployed(before, async (sessions) => {
    const { header } = await sessions.start({ ...me, tool: 'pay' });
    const turn = await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 30 }] });
    say(`the old version asks: ${await asked(turn)}`);
    return header.id;
  });

  for (const file of ['careless.mjs', 'after.mjs']) say(`replay against ${file}: ${replayed(file)}`);

  await deployed(careless, async (sessions) => {
    const answer = sessions.answer({ ...me, sessionId, answers: [{ value: 'rent' }] });
    await assert.rejects(answer, { code: 'FLOW_CHANGED' });
    const { header } = await sessions.getState({ ...me, sessionId });
    assert.ok(header.parked);
    say('the careless version parks it, and nothing is lost');
  });

  await deployed(after, async (sessions) => {
    const old = await sessions.answer({ ...me, sessionId, answers: [{ value: 'rent' }] });
    say(`the new version goes on: ${old.result}`);
    assert.deepEqual([...bank.charges.values()], [30]);
    const { header } = await sessions.start({ ...me, tool: 'pay' });
    const next = await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 7 }] });
    say(`a new session is asked: ${await asked(next)}`);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8');
assert.equal(`${said.join('\n')}\n`, /```text\n([^`]*)```/.exec(readme)[1]);
