// The official conformance suite through a gateway, in all pairs of revisions, over both transports to the server, and before a server of SDK v2: through
// several gateways as through one, check by check. A sample is compared with a direct run only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonFor } from './expected.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAMPLE = ['--through', '--upstream', 'http', '--revision', '2025-11-25', '--towards', '2026-07-28'];
const WHOLE = ['--through', '--sdk'];

export async function compareConformance({ replicas, isSample }) {
  const args = isSample ? SAMPLE : WHOLE;
  const all = await play([...args, '--replicas', String(replicas)]);
  const one = isSample ? undefined : new Map((await play(args)).map((cell) => [keyOf(cell), cell]));
  const rows = new Map();
  for (const cell of all) {
    const { name, revision, server, upstream, scenario, found, result } = cell;
    const suite = `official suite, client ${revision}, ${name === 'sdk' ? 'server of SDK v2' : `server ${server}`} over ${upstream}`;
    const row = rows.get(suite) ?? { suite, scenarios: 0, same: 0, expected: [], different: [] };
    rows.set(suite, row);
    row.scenarios++;
    const alone = one?.get(keyOf(cell));
    const through = alone?.found;
    // What may differ from a direct run for a listed reason may end in several ways.
    const isListed = result === 'expected' && alone?.result === 'expected';
    const isEqual = found?.toSorted().join() === (through ?? ['no result']).toSorted().join();
    const isSame = one ? isEqual || isListed : result !== 'different';
    const reason = isSame ? undefined : reasonFor('conformance', keyOf(cell));
    if (isSame) row.same++;
    else if (reason) row.expected.push({ name: scenario, reason });
    else row.different.push({ name: scenario, what: differenceOf(through, found) });
  }
  return [...rows.values()];
}

function differenceOf(one = [], several = []) {
  const lost = one.filter((finding) => !several.includes(finding)).map((finding) => `- ${finding}`);
  const gained = several.filter((finding) => !one.includes(finding)).map((finding) => `+ ${finding}`);
  return [...lost, ...gained].join('\n');
}

function keyOf({ name, revision, server, upstream, scenario }) {
  return `${name} ${revision} ${server} ${upstream} ${scenario}`;
}

async function play(args) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-conformance-'));
  const json = join(folder, 'results.json');
  const child = spawn(process.execPath, ['tests/conformance/run.mjs', ...args, '--json', json], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
  const { through } = JSON.parse(readFileSync(json, 'utf8'));
  rmSync(folder, { recursive: true });
  return through;
}
