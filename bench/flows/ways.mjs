// The engines that are measured side by side, and the ways to them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median } from '../report/quantile.mjs';
import { asObject, asWorkflow, drive, overHttp } from './drive.mjs';
import { treeCpu } from './tree-usage.mjs';

/** The SDK of Restate tells of each invocation otherwise. */
const ENV = { NODE_ENV: 'production', RESTATE_LOGGING: 'ERROR', NODE_NO_WARNINGS: '1' };
/** Hears of notifications after 1 ms instead of 10. */
const DBOS = { notificationCoalesceMs: 1, systemDatabasePoolSize: 20 };
/** Instead of 24, which are for larger machines. */
const RESTATE = { RESTATE_DEFAULT_NUM_PARTITIONS: '1' };

/** Driven in the engine's process ('in'), from another one by HTTP, or by Restate's ingress. */
const ENGINES = [
  { name: 'Parley, memory', engine: 'parley', options: { store: 'memory' }, kinds: ['in'] },
  { name: 'Parley, memory, replayed', engine: 'parley', options: { store: 'memory', warm: 0 }, kinds: ['in'] },
  { name: 'Parley, token', engine: 'parley', options: { store: 'token' }, kinds: ['in'] },
  { name: 'Parley, SQLite', engine: 'parley', options: { store: 'sqlite' }, kinds: ['in', 'http'] },
  {
    name: 'Parley, SQLite, encrypted',
    engine: 'parley',
    options: { store: 'sqlite', key: 'a key of this bench' },
    kinds: ['in'],
  },
  { name: 'Parley, Redis, AOF every second', engine: 'parley', options: { store: 'redis' }, kinds: ['in'] },
  {
    name: 'Parley, Redis, AOF always',
    engine: 'parley',
    options: {
      store: 'redis',
      appendfsync: 'always',
    },
    kinds: ['in'],
  },
  { name: 'DBOS, PostgreSQL', engine: 'dbos', options: { config: DBOS }, kinds: ['in', 'http'] },
  { name: 'Restate', engine: 'restate', options: { env: RESTATE }, kinds: ['workflow', 'object'] },
];
const NAMES = { in: '', http: ', over HTTP', workflow: ', workflow', object: ', virtual object' };
const CALLERS = { http: overHttp, workflow: asWorkflow, object: asObject };

/** Starts them all; those that cannot start here are left out, which is said. */
export async function openWays({ only = '', folder }) {
  const [ways, apps] = [[], []];
  for (const { name, engine, options, kinds } of ENGINES) {
    if (!name.toLowerCase().includes(only.toLowerCase())) continue;
    const program = fileURLToPath(new URL('app.mjs', import.meta.url));
    const env = { ...process.env, ...ENV, BENCH_FOLDER: folder };
    const app = fork(program, [engine, JSON.stringify(options)], { env });
    const [{ missing, url, server, ingress }] = await Promise.race([once(app, 'message'), once(app, 'exit')]);
    if (url === undefined) {
      console.log(`${name} is left out: ${missing ?? 'it does not start'}`);
      continue;
    }
    apps.push(app);
    for (const kind of kinds) {
      const api = CALLERS[kind]?.(kind === 'http' ? url : ingress);
      ways.push({ name: name + NAMES[kind], server, run: api ? fromHere(app, api) : inside(app), rounds: [] });
    }
  }
  const close = () => Promise.all(apps.map((app) => ask(app, 'end')));
  return { ways, close };
}

async function ask(app, asked, plan) {
  app.send({ asked, plan });
  const [{ answer }] = await once(app, 'message');
  return answer;
}

function inside(app) {
  return (plan) => ask(app, 'drive', plan);
}

/** What the driver takes is not counted. */
function fromHere(app, api) {
  return async (plan) => {
    const before = await ask(app, 'usage');
    const driven = await drive(api, plan);
    return { ...driven, cpu: (await ask(app, 'usage')) - before };
  };
}

/** In turns: what the machine does besides, it does to all of them. */
export async function measureWays(ways, { inFlights, rounds, ms, warm }) {
  for (const way of ways) {
    for (const inFlight of inFlights)
      await way.run({ inFlight, turns: warm.turns / (inFlight === 1 ? 4 : 1), ms: warm.ms });
  }
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < ways.length; at++) {
      const way = ways[(at + round) % ways.length];
      for (const inFlight of inFlights) way.rounds.push(await measured(way, { inFlight, ms }));
    }
  }
  return ways.flatMap((way) => inFlights.map((inFlight) => summary(way, inFlight)));
}

async function measured({ server, run }, plan) {
  const before = treeCpu(server);
  const { turns, seconds, p50, p99, cpu } = await run(plan);
  const app = cpu / turns;
  const beside = (treeCpu(server) - before) / turns;
  return { inFlight: plan.inFlight, rate: turns / seconds, p50, p99, app, server: beside, total: app + beside };
}

/** CPU of the round that took the least, as others on the machine only ever add; of the rest medians, and the best rate. */
function summary({ name, server, rounds }, inFlight) {
  const mine = rounds.filter((round) => round.inFlight === inFlight).sort((a, b) => a.total - b.total);
  const of = (figure) => median(mine.map((round) => round[figure]));
  const [{ app, total, ...least }] = mine;
  const rate = Math.max(...mine.map((round) => round.rate));
  const beside = server === undefined ? undefined : least.server;
  return { name, inFlight, app, server: beside, total, middle: of('total'), rate, p50: of('p50'), p99: of('p99') };
}
