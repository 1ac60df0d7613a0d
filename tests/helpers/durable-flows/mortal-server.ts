// Serves the flows of examples/durable-flows and dies on command: before or after a write to the store, or around a
// step. The parent sends the command; a file records where it died.
import { appendFileSync } from 'node:fs';
import { createLog, createServer } from 'mcp-parley';
import { createRedisStore, createSqliteStore, serveFlows } from 'mcp-parley/flow';
import type { AnyFlow, Ask, FlowStore, StepContext, StepOptions } from 'mcp-parley/flow';
import { inform } from '../../../examples/durable-flows/company.ts';
import { migration } from '../../../examples/durable-flows/migration.ts';
import { questionnaire } from '../../../examples/durable-flows/questionnaire.ts';
import { runbook } from '../../../examples/durable-flows/runbook.ts';
import type { Death, MortalOptions } from './mortal.ts';

const WRITES = ['create', 'commit', 'lease', 'release', 'spend', 'putBlob', 'forgetOutcome'] as const;
const KEYS = ['the same in every process'];
/** Another process takes over soon after a death. */
const LEASE_MS = 300;
const SWEEP_MS = 50;

const { place, deaths, port, death: first } = JSON.parse(process.argv[2]!) as MortalOptions;
let death: Death | undefined = first;
let passed = 0;

process.on('message', (told: Death | 'count') => {
  if (told === 'count') return process.send!(passed);
  death = told;
  passed = 0;
  return process.send!('armed');
});
process.on('disconnect', () => process.exit());

const inner = place.redis ? await createRedisStore(place.redis) : await createSqliteStore(place.sqlite!);
const server = createServer({
  name: 'durable-flows',
  version: '1.0.0',
  keys: KEYS,
  log: createLog({ level: 'error' }),
  identify: ({ headers }) => String(headers['x-user']),
});
const sessions = serveFlows(server, [migration, questionnaire, runbook].map(mortalFlow), {
  store: mortal(inner),
  keys: KEYS,
  leaseMs: LEASE_MS,
  notify: inform,
  limits: { respondsPerSecond: 1000, sessionsPerPrincipal: 1000 },
});
await server.listen({ port });
process.send!('ready');
setInterval(() => void sessions.sweep(), SWEEP_MS);

function mortal(store: FlowStore): FlowStore {
  const methods = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const watched = WRITES.filter((name) => methods[name]).map((name) => [
    name,
    async (...args: unknown[]) => {
      pass(`before ${name}`);
      const done = await methods[name]!(...args);
      pass(`after ${name}`);
      return done;
    },
  ]);
  return { ...store, ...(Object.fromEntries(watched) as object) };
}

function mortalFlow(flow: AnyFlow): AnyFlow {
  return { ...flow, body: (ask: Ask, input: unknown) => flow.body(mortalAsk(ask), input) as Promise<unknown> };
}

type Step = (key: string, work: (step: StepContext) => unknown, options?: StepOptions<unknown>) => Promise<unknown>;

function mortalAsk(ask: Ask): Ask {
  const step: Step = (key, work, options) =>
    (ask as unknown as { step: Step }).step(
      key,
      async (context) => {
        pass(`before step ${key}`);
        const result = await work(context);
        pass(`after step ${key}`);
        return result;
      },
      options,
    );
  return Object.assign(Object.create(ask) as Ask, { step, scope: (id: string) => mortalAsk(ask.scope(id)) });
}

function pass(where: string): void {
  passed++;
  if (death?.at === undefined || passed !== death.at) return;
  appendFileSync(deaths, `${where}\n`);
  process.kill(process.pid, 'SIGKILL');
  for (;;); // waits for the signal; nothing may happen before it
}
