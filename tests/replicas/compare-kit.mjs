// The acceptance kit over HTTP and WebSocket: step by step, through several gateways as through one, which is behind the same proxy. Fixtures that are
// servers are put behind gateways, so a few steps fail in both: what a gateway says of itself, and what it translates.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadGroups, transportsOf } from '../acceptance/kit/transcripts.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TRANSPORTS = ['http', 'ws'];
const SAMPLE = ['chain'];
/** A group that differs is played again, both ways: machines are busy at times. */
const LOOKS = 2;

export async function compareKit({ replicas, isSample }) {
  const groups = loadGroups().filter(
    (group) =>
      group.sut === 'server' &&
      transportsOf(group).some((transport) => TRANSPORTS.includes(transport)) &&
      (!isSample || SAMPLE.includes(group.fixture)),
  );
  let names = groups.map(({ name }) => name);
  const found = new Map();
  for (let look = 0; look <= LOOKS && names.length > 0; look++) {
    const [one, all] = [await play(1, names), await play(replicas, names)];
    for (const [step, result] of one) found.set(step, { ...result, one: result.outcome, all: all.get(step)?.outcome });
    names = [...new Set([...found.values()].filter((step) => step.one !== step.all).map(({ group }) => group))];
  }
  return TRANSPORTS.map((transport) => toRow(transport, [...found.values()]));
}

function toRow(transport, all) {
  const steps = all.filter(({ lane }) => lane === transport);
  const different = steps.filter(({ one, all: several }) => one !== several);
  const broken = steps.filter(({ one }) => one !== 'passed').length;
  return {
    suite: `acceptance kit, ${transport === 'ws' ? 'WebSocket' : 'HTTP'} (${broken} steps fail, or follow one that does, through one gateway)`,
    scenarios: steps.length,
    same: steps.length - different.length,
    expected: [],
    different: different.map(({ group, id, one, all: several }) => ({
      name: `${group} ${id}`,
      what: `one: ${one}\nseveral: ${several}`,
    })),
  };
}

/** `{ lane, group, id, outcome }` of each step, by its name. */
async function play(count, names) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-kit-'));
  const json = join(folder, 'results.json');
  const program = `node tests/replicas/kit-sut.mjs ${count} {fixture} {listen}`;
  const args = ['--sut', program, '--transport', TRANSPORTS.join(), '--group', names.join(), '--json', json];
  const child = spawn(process.execPath, ['tests/acceptance/kit/run.mjs', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
  const { results } = JSON.parse(readFileSync(json, 'utf8'));
  rmSync(folder, { recursive: true });
  return new Map(
    results.map(({ lane, group, id, status, why }) => {
      const outcome = why ? `${status}: ${withoutIds(why)}` : status;
      return [`${lane} ${group} ${id}`, { lane, group, id, outcome }];
    }),
  );
}

/** What differs from run to run. */
function withoutIds(text) {
  return text.replaceAll(/"[\w.-]{20,}"/g, '"…"');
}
