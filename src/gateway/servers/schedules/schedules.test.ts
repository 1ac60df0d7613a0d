// Random schedules of calls, questions, cancels, time-outs, disconnects and deaths, with servers in memory and a clock that is moved by
// hand: nothing reaches a client that is not its own, and nothing hangs. PARLEY_SCHEDULES sets how many; a failure prints the seed
// (PARLEY_SEED repeats it).
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OnCancel, Wire } from './fake-server.contract.ts';
import { KINDS, World, settled } from './world.contract.ts';
import type { Kind } from './world.contract.ts';

const SCHEDULES = Number(process.env.PARLEY_SCHEDULES ?? 10_000);
const SEED = process.env.PARLEY_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.PARLEY_SEED);

const TOOLS = ['report', 'ask', 'pay'];
const PRINCIPALS = ['alice', 'bob', 'carol'];

type Simple =
  | 'disconnect'
  | 'list'
  | 'cancel'
  | 'progress'
  | 'answer'
  | 'task'
  | 'tell'
  | 'roots'
  | 'reply'
  | 'decline'
  | 'die';

/** `at` picks one of whatever there is when its turn comes. */
type Action =
  | { do: 'connect'; kind: Kind; principal: string }
  | { do: 'call'; at: number; tool: string; asTask: boolean }
  | { do: 'ask' | 'log'; at: number; isNamed: boolean }
  | { do: Simple; at: number }
  | { do: 'wait'; ms: number };

const at = fc.nat({ max: 1000 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('connect' as const),
      kind: fc.constantFrom(...KINDS),
      principal: fc.constantFrom(...PRINCIPALS),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      at,
      tool: fc.constantFrom(...TOOLS),
      asTask: fc.boolean(),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constantFrom('ask' as const, 'ask' as const, 'ask' as const, 'log' as const),
      at,
      isNamed: fc.boolean(),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constantFrom<Simple>(
        'disconnect',
        'list',
        'cancel',
        'cancel',
        'cancel',
        'progress',
        'answer',
        'answer',
        'task',
        'tell',
        'roots',
        'reply',
        'reply',
        'decline',
        'die',
      ),
      at,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(50, 1000, 61_000, 400_000) }),
  },
);

const schedule = fc.record({
  wire: fc.constantFrom<Wire>('stdio', 'streamable-http'),
  onCancel: fc.constantFrom<OnCancel>('answers late', 'never answers'),
  share: fc.constantFrom<'auto' | 'quiet' | 'session'>('auto', 'auto', 'quiet', 'quiet', 'session'),
  actions: fc.array(action, { minLength: 10, maxLength: 40 }),
});

test('nothing is misdelivered and nothing hangs', { timeout: 3_600_000 }, async () => {
  let delivered = 0;
  let refused = 0;
  const property = fc.asyncProperty(schedule, async ({ actions, ...options }) => {
    const world = new World(options);
    for (const principal of PRINCIPALS) world.connect(KINDS[0], principal);
    for (const one of actions) {
      perform(one, world);
      await settled();
    }
    await world.end();
    delivered += world.delivered;
    refused += world.servers.questions.filter((question) => question.isRefused).length;
    expect(world.problems).toEqual([]);
  });
  await fc.assert(property, {
    numRuns: SCHEDULES,
    seed: SEED,
    endOnFailure: process.env.PARLEY_SHRINK === undefined,
  });
  console.log(
    `${SCHEDULES} schedules, seed ${SEED}: ${delivered} questions delivered, ${refused} refused, none astray`,
  );
  expect(delivered).toBeGreaterThan(SCHEDULES);
});

test('a new task that reuses the id of an old one from before a crash reaches no other client', async () => {
  const world = new World({ wire: 'stdio', onCancel: 'never answers', share: 'auto' });
  for (const principal of PRINCIPALS) world.connect(KINDS[0], principal);
  const actions: Action[] = [
    { do: 'call', at: 0, tool: 'report', asTask: true },
    { do: 'task', at: 0 },
    { do: 'die', at: 0 },
    { do: 'call', at: 1, tool: 'pay', asTask: true },
    { do: 'disconnect', at: 1 },
    { do: 'task', at: 1 },
    { do: 'tell', at: 1 },
  ];
  for (const one of actions) {
    perform(one, world);
    await settled();
  }
  await world.end();
  expect(world.problems).toEqual([]);
});

function perform(action: Action, world: World): void {
  const { people, calls, servers, questions } = world;
  if (action.do === 'connect') return void world.connect(action.kind, action.principal);
  if (action.do === 'wait') return world.clock.advance(action.ms);
  const pick = <T>(all: readonly T[]): T | undefined => all[action.at % Math.max(1, all.length)];
  const person = pick(people);
  // The latest jobs are the interesting ones.
  const job = pick(servers.jobs.slice(-6));
  switch (action.do) {
    case 'call':
      return person && world.call(person, action.tool, action.asTask);
    case 'list':
      return person && world.list(person);
    case 'disconnect':
      return person && world.disconnect(person);
    case 'cancel':
      return pick(calls.slice(-6))?.controller.abort();
    case 'reply':
    case 'decline': {
      const question = pick([...questions]);
      const answer =
        action.do === 'reply' ? { action: 'accept', content: { by: question?.by } } : { action: 'decline' };
      return question?.settle(answer);
    }
    case 'die':
      return pick(servers.all)?.die();
    case 'ask':
      // A handler that has answered asks no more, unless it goes on as a task.
      return job && (!job.isAnswered || job.taskId) ? job.server.ask(job, action.isNamed) : undefined;
    case 'log':
      return job && !job.isAnswered ? job.server.log(job, action.isNamed) : undefined;
    case 'roots':
      return job && !job.isAnswered ? job.server.ask(job, false, 'roots/list') : undefined;
    case 'progress':
      return job?.server.progress(job);
    case 'answer':
      return job?.server.answer(job);
    case 'task':
      return job?.server.startTask(job);
    case 'tell':
      return job?.server.tellTask(job, action.at % 2 === 0 ? 'working' : 'completed');
  }
}
