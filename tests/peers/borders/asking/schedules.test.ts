// Random schedules of calls, cancels, time-outs, disconnects and late questions with clients and servers of the official SDKs: nothing
// reaches a client that is not its own, and nothing hangs. PARLEY_SDK_SCHEDULES sets how many (`npm run test:long` has 300); PARLEY_SEED
// repeats a run, as far as processes do the same again.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { until } from '../../../helpers/until.ts';
import { askingProcesses } from './processes.ts';
import { GUESTS, LIMITS, SERVERS, TOOLS, World } from './world.ts';
import type { Call } from './world.ts';

const SCHEDULES = Number(process.env.PARLEY_SDK_SCHEDULES ?? 60);
const SEED = process.env.PARLEY_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.PARLEY_SEED);

/** Processes that stay when all clients have left: one of each server on stdio that clients have shared, for each set of capabilities. */
const SHARED = 2 * 2;

/** `at` picks one of whatever there is when its turn comes. */
type Action =
  | {
      do: 'call';
      name: string;
      server: string;
      tool: (typeof TOOLS)[number];
      isHeld: boolean;
      timeout: number | undefined;
      lingers: boolean;
    }
  | { do: 'cancel' | 'release' | 'reach' | 'answer'; at: number }
  | { do: 'leave'; name: string; how: 'vanish' | 'end' };

const at = fc.nat({ max: 1000 });
const simple = (what: 'cancel' | 'release' | 'reach' | 'answer', weight: number) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(what), at }),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      name: fc.constantFrom(...Object.keys(GUESTS)),
      server: fc.constantFrom(...SERVERS),
      tool: fc.constantFrom(...TOOLS),
      isHeld: fc.boolean(),
      timeout: fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, fc.integer({ min: 1, max: 60 })),
      lingers: fc.oneof({ weight: 60, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
  simple('cancel', 6),
  simple('release', 6),
  simple('reach', 8),
  simple('answer', 6),
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('leave' as const),
      name: fc.constantFrom(...Object.keys(GUESTS)),
      how: fc.constantFrom('vanish' as const, 'end' as const),
    }),
  },
);

async function run(world: World, actions: Action[], lingering: Set<Call>): Promise<void> {
  const pick = <T>(from: T[], at: number): T | undefined => from[at % from.length];
  for (const one of actions) {
    switch (one.do) {
      case 'call': {
        const { server, tool, isHeld, timeout, lingers } = one;
        const call = world.call(await world.guest(one.name), server, tool, {
          isHeld: isHeld || lingers,
          ...(timeout !== undefined && { timeout }),
        });
        if (lingers) lingering.add(call);
        break;
      }
      case 'leave':
        await world.leave(one.name, one.how);
        break;
      case 'answer':
        pick(world.questions, one.at)?.answer();
        break;
      default: {
        const call = pick(
          world.calls.filter((call) => !call.isSettled && !lingering.has(call)),
          one.at,
        );
        if (!call) break;
        if (one.do === 'reach') await world.reached(call);
        else if (one.do === 'release') world.release(call);
        else call.controller.abort();
      }
    }
  }
  await world.settle(lingering);
}

test(
  'every question, answer, message and result reaches its own client, and every call ends',
  { timeout: 900_000 },
  async () => {
    const started = Date.now();
    await using world = await World.start();
    const schedules = fc.sample(fc.array(action, { minLength: 6, maxLength: 16 }), { numRuns: SCHEDULES, seed: SEED });
    const lingering = new Set<Call>();
    let most = 0;
    for (const [index, actions] of schedules.entries()) {
      await run(world, actions, lingering);
      if (index % 10 === 0) most = Math.max(most, askingProcesses().length);
    }
    for (const call of lingering) {
      await call.done; // the gateway has given it up
      world.release(call);
    }
    await world.checkServers();
    await world.leaveAll();
    await until('the processes to end', () => askingProcesses().length <= SHARED).catch(() => {});
    const left = askingProcesses().length;
    const took = `${Math.round((Date.now() - started) / 1000)} s`;
    console.log(
      `${SCHEDULES} schedules, seed ${SEED}, ${took}, at most ${most} processes, ${left} at the end`,
      world.counts,
    );
    expect(world.problems).toEqual([]);
    expect(world.counts['questions answered']).toBeGreaterThan(SCHEDULES / 10);
    // Of two servers; beside each process, one that was replaced may finish its work.
    expect(most).toBeLessThanOrEqual(2 * 2 * LIMITS.maxProcesses);
    expect(left).toBeLessThanOrEqual(SHARED);
  },
);
