// Kills processes with SIGKILL over and over, at random times and at the worst ones, and checks what is left:
//   node tests/kill-loop/run.mjs [--kills 300] [--store sqlite | --redis redis://127.0.0.1:6379 | --postgres postgres://…] [--key secret] [--write]
// `--sabotage lose` makes the store forget some commits, `vary` gives effects another key on each try, `forget` leaves out some undos
// and some cleanup, `hurry` ends sleeps too early, `repeat` loses intents of effects: the check must detect all of them.
// `--write` puts the figures into docs/evidence/borders.md.
// Prints a report in JSON; exits with 1 if anything that was acknowledged is lost, or an effect happened twice.
// Needs the build (node scripts/ready.mjs), and for Redis or Postgres a server of its own: its keys and tables stay there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkEffects, checkJournals } from './check.mjs';
import { finish, killLoop } from './loop.mjs';
import { openStore } from './open-store.mjs';
import { renewBlock } from '../peers/harness/page-block.mjs';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    store: { type: 'string', default: 'sqlite' },
    redis: { type: 'string' },
    postgres: { type: 'string' },
    key: { type: 'string' },
    sabotage: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
/** One in so many, at each place where a process may be made to die. */
const FAULTS = { 'before-effect': 120, 'after-effect': 50, 'before-commit': 900, 'after-commit': 600 };

const folder = mkdtempSync(join(tmpdir(), 'parley-kill-loop-'));
const effects = join(folder, 'effects.log');
writeFileSync(effects, '');
/** More than the loop makes: the check looks at all of them. */
const maxTombstones = 1_000_000;
const place = values.redis
  ? { store: 'redis', url: values.redis, prefix: `kill-loop-${process.pid}`, maxTombstones }
  : values.postgres
    ? {
        store: 'postgres',
        url: values.postgres,
        schema: `kill_loop_${process.pid}`,
        maxTombstones,
        ...(values.key && { key: values.key }),
      }
    : { store: 'sqlite', path: join(folder, 'flows.db'), maxTombstones, ...(values.key && { key: values.key }) };

const began = Date.now();
const told = { place, effects, faults: FAULTS, sabotage: values.sabotage };
const { said, kills, byFault } = await killLoop(told, Number(values.kills));
const store = await openStore(place);
const journals = await checkJournals(store, said);
said.push(...(await finish(told)));
const outcome = await checkEffects(store, said, effects);
await store.close();
rmSync(folder, { recursive: true });

const breaches = [...journals.breaches, ...outcome.breaches];
const report = {
  store: place.store,
  kills,
  byFault,
  faults: counted(said.filter(({ kind }) => kind === 'fault')),
  acknowledged: journals.acknowledged,
  openAtTheEnd: journals.open,
  events: journals.events,
  ...outcome,
  breaches,
  seconds: Math.round((Date.now() - began) / 1e3),
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (values.write) renewBlock('evidence/borders.md', `kills-${place.store}`, toWords(report));
process.exitCode = breaches.length > 0 ? 1 : 0;

function toWords(all) {
  const name = { postgres: 'Postgres', redis: 'Redis', sqlite: 'SQLite' }[place.store];
  return [
    `${name}: ${all.kills} kills, ${all.byFault} of them between an effect and its record or around a commit.`,
    `${all.acknowledged} answers were acknowledged in ${all.sessions} sessions, ${all.moved} of which were answered in more than one process.`,
    `${all.events.early + all.events.atWork + all.events.atRest} events were delivered: ${all.events.early} before anybody waited for them, ${all.events.atWork} while a step ran, ${all.events.atRest} to sessions at rest.`,
    `${all.completed} sessions completed, ${all.slept} of them after a sleep; ${all.cancelled} were cancelled, ${all.failed} failed, ${all.expired} expired.`,
    `${all.effects} effects, ${all.retried} of them not at the first try; ${all.undone} were taken back, ${all.cleaned} sessions cleaned up.`,
    `Lost, done twice, not taken back, not cleaned up, or woken too early: ${all.breaches.length}.`,
  ].join('\n');
}

function counted(faults) {
  const counts = {};
  for (const { name } of faults) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
