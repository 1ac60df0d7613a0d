// The flows of examples/durable-flows, served by a process that dies where it is told to: before or after something that it writes to the
// store, or around a step. It is told so by its parent; where it died stands in a file.
import { createLog, createServer } from 'mcp-parley';
import { createPostgresStore, createRedisStore, createSqliteStore, serveFlows } from 'mcp-parley/flow';
import { inform } from '../../../examples/durable-flows/company.ts';
import { migration } from '../../../examples/durable-flows/migration.ts';
import { questionnaire } from '../../../examples/durable-flows/questionnaire.ts';
import { runbook } from '../../../examples/durable-flows/runbook.ts';
import { toOwner } from '../../../src/flow/header.ts';
import { caller, watchedStore } from './boundaries.ts';
import { Killer } from './killer.ts';
import type { Death } from './killer.ts';
import type { MortalOptions } from './mortal.ts';
import { watchedFlow } from './watched-flow.ts';

const KEYS = ['the same in every process'];
/** Another process takes over soon after a death. */
const LEASE_MS = 300;
const SWEEP_MS = 50;

const { place, deaths, port, death } = JSON.parse(process.argv[2]!) as MortalOptions;
const killer = new Killer(deaths, death ?? {});
const pass = killer.pass.bind(killer);

process.on('message', (told: Death | 'passed' | number) => {
  if (typeof told === 'number') return killer.goOn(told);
  if (told === 'passed') return process.send!(killer.passed);
  killer.arm(told);
  return process.send!('armed');
});
process.on('disconnect', () => process.exit());

const inner = place.redis
  ? await createRedisStore(place.redis)
  : place.postgres
    ? await createPostgresStore(place.postgres)
    : await createSqliteStore(place.sqlite!);
killer.ownerOf = (name) => toOwner(name, inner.salt);
const server = createServer({
  name: 'durable-flows',
  version: '1.0.0',
  keys: KEYS,
  log: createLog({ level: 'error' }),
  identify({ headers }) {
    const who = String(headers['x-user']);
    caller.enterWith(who);
    return who;
  },
});
const flows = [migration, questionnaire, runbook].map((flow) => watchedFlow(flow, pass));
const sessions = serveFlows(server, flows, {
  store: watchedStore(inner, killer),
  keys: KEYS,
  leaseMs: LEASE_MS,
  notify: inform,
  limits: { respondsPerSecond: 1000, sessionsPerPrincipal: 1000 },
});
await server.listen({ port });
process.send!('ready');
setInterval(() => void sessions.sweep(), SWEEP_MS);
