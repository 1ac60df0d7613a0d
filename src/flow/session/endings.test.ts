// Every kind of end, in every state of an effect: effects are undone, or stay, as docs/flows.md promises.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { Sessions } from './sessions.ts';

const me = { principal: 'me' };
const LEASE_MS = 30_000;

/** How a session ends. */
const ENDINGS = ['completes', 'is cancelled', 'is declined', 'fails', 'expires', 'ends in another process'] as const;
/** Where its effect stands then. */
const EFFECTS = [
  'done',
  'in flight',
  'in flight in a process that dies',
  'failed',
  'cannot be undone at first',
] as const;
type Ending = (typeof ENDINGS)[number];
type Effect = (typeof EFFECTS)[number];

class World {
  readonly clock = manualClock();
  readonly store = memoryStore({ clock: this.clock });
  readonly log: string[] = [];
  release = (): void => {};
  undoFails = 0;
  readonly #ending: Ending;
  readonly #effect: Effect;

  constructor(ending: Ending, effect: Effect) {
    this.#ending = ending;
    this.#effect = effect;
    if (effect === 'cannot be undone at first') this.undoFails = 2;
  }

  process(isMortal = false): Sessions {
    const { clock, store } = this;
    const own = isMortal ? { now: () => clock.now(), after: () => () => {} } : clock;
    const tool = flow({ name: 'x', timeout: '1m', limits: { duration: '10m' } }, (ask) => this.#body(ask, isMortal));
    const options = { store, log: createLog({ level: 'silent' }), leaseMs: LEASE_MS };
    return new Sessions([tool], { ...options, clock: own });
  }

  readonly #body = async (ask: Ask, isMortal: boolean): Promise<void> => {
    await ask.text('begin');
    const reserving = ask.step('reserve', () => this.#reserve(isMortal), {
      effect: 'retry',
      undo: (room) => this.#undo(room),
      timeout: '9m',
    });
    const { isInFlight } = this;
    if (!isInFlight) await reserving.catch(() => {});
    if (isInFlight && this.#ending === 'fails') {
      await Promise.all([reserving, ask.step('other', () => Promise.reject(new Error('No other')))]);
    }
    if (isInFlight) await Promise.race([reserving, ...(this.#ending === 'completes' ? [ask.sleep('a', 0)] : [])]);
    if (this.#ending === 'completes') return;
    await ask.text('end');
    if (this.#ending === 'fails') throw new Error('No room');
  };

  get isInFlight(): boolean {
    return this.#effect.startsWith('in flight');
  }

  async #reserve(isMortal: boolean): Promise<string> {
    this.log.push('done');
    if (this.#effect === 'failed') throw new Error('No room');
    // One that has died never comes to its end, and the process that takes over does it again.
    if (this.isInFlight) {
      await new Promise<void>((resolve) => (isMortal || this.log.length === 1 ? (this.release = resolve) : resolve()));
    }
    return 'room 7';
  }

  #undo(room: string): void {
    if (this.undoFails-- > 0) throw new Error('not now');
    this.log.push(`undone ${room}`);
  }
}

async function play(ending: Ending, effect: Effect): Promise<string> {
  const world = new World(ending, effect);
  const dies = effect === 'in flight in a process that dies';
  const sessions = world.process(dies);
  const { header } = await sessions.start({ ...me, tool: 'x' });
  const session = { ...me, sessionId: header.id };
  const answer = (value: unknown) => sessions.answer({ ...session, answers: [{ value }] });
  await answer('yes');
  if (world.isInFlight) await until('the effect to begin', () => world.log.length > 0);
  else if (ending !== 'completes') {
    await until('the next question', async () => (await sessions.getState(session)).header.state === 'waiting_user');
  }
  const other = world.process();
  if (dies) world.clock.move(LEASE_MS + 1);
  const ended = end(ending, { sessions: dies ? other : sessions, other, session, world });
  if (!dies) await until('the effect to be awaited', async () => (world.release(), true));
  await ended;
  await until('the session to be over', async () => {
    if (!dies) world.release();
    world.clock.move(1000);
    await other.sweep();
    const stored = await world.store.load(session.sessionId);
    return !stored || stored.entries.length === 0;
  });
  const undone = world.log.filter((line) => line.startsWith('undone'));
  expect(undone.length).toBeLessThanOrEqual(1);
  if (undone.length === 1) expect(undone).toEqual(['undone room 7']);
  await sessions.close();
  await other.close();
  if (effect === 'failed') return undone.length === 0 ? 'nothing to undo' : 'undone';
  return undone.length === 1 ? 'undone' : 'stays';
}

interface Scene {
  sessions: Sessions;
  other: Sessions;
  session: { principal: string; sessionId: string };
  world: World;
}

async function end(ending: Ending, { sessions, other, session, world }: Scene): Promise<void> {
  const waits = async () => (await world.store.load(session.sessionId))?.header.state === 'waiting_user';
  if (ending === 'is cancelled') await sessions.cancel(session);
  else if (ending === 'ends in another process') await other.cancel(session);
  else if (ending === 'expires') world.clock.move(10 * 60_000 + 1);
  else if (ending === 'is declined' && (await waits())) {
    await sessions.answer({ ...session, answers: [{ no: 'declined' }] });
  } else if (ending === 'fails' && (await waits())) await sessions.answer({ ...session, answers: [{ value: 'x' }] });
}

function promised(ending: Ending, effect: Effect): string {
  // No question is open while a step runs.
  if (ending === 'is declined' && effect.startsWith('in flight')) return 'cannot be';
  if (effect === 'failed') return 'nothing to undo';
  return ending === 'completes' ? 'stays' : 'undone';
}

describe.each(ENDINGS)('a session that %s', (ending) => {
  const effects = EFFECTS.filter((effect) => promised(ending, effect) !== 'cannot be');
  it.each(effects)('while its effect: %s', async (effect) => {
    expect(await play(ending, effect)).toBe(promised(ending, effect));
  });
});

describe('a body whose session ends', () => {
  const quiet = { log: createLog({ level: 'silent' }) };

  async function waiting(body: (ask: Ask) => Promise<unknown>, options: object = {}) {
    const sessions = new Sessions([flow({ name: 'x' }, body)], { ...quiet, ...options });
    const { header } = await sessions.start({ ...me, tool: 'x' });
    const session = { ...me, sessionId: header.id };
    const answer = (value: unknown) => sessions.answer({ ...session, answers: [{ value }] });
    return { sessions, session, answer };
  }

  it('learns of the end, cleans up in its finally, and can do nothing else', async () => {
    const seen: unknown[] = [];
    const { sessions, session, answer } = await waiting(async (ask) => {
      await ask.text('a');
      const { signal } = ask;
      await ask.step('lock', () => seen.push('locked'), { effect: 'retry', undo: () => seen.push('undone') });
      try {
        await ask.text('b');
      } catch (thrown) {
        seen.push(signal.aborted, (thrown as Error).name);
        await ask.step('charge', () => seen.push('charged'), { effect: 'retry' }).catch(() => seen.push('refused'));
        await ask.text('c').catch(() => seen.push('not asked'));
      } finally {
        await ask.step('unlock', () => seen.push('unlocked'), { effect: 'retry', cleanup: true });
      }
    });
    await answer('x');
    await until('b', async () => (await sessions.getState(session)).header.state === 'waiting_user');
    expect(await sessions.cancel(session)).toMatchObject({ header: { state: 'cancelled' } });
    const told = ['locked', true, 'SessionEndedError', 'refused', 'not asked', 'unlocked', 'undone'];
    expect(seen).toEqual(told);
  });

  it('does not hold the process up by asking again and again', async () => {
    let times = 0;
    const { sessions, session } = await waiting(async (ask) => {
      await ask.step('read', () => 1);
      for (;;) await ask.text('a').catch(() => times++);
    });
    expect(await sessions.cancel(session)).toMatchObject({ header: { state: 'cancelled' } });
    expect(times).toBeGreaterThan(0);
  });

  it('does not take a cancelled session for a question that was cancelled', async () => {
    let charged = 0;
    const { sessions, session, answer } = await waiting(async (ask) => {
      await ask.text('a');
      await ask.step('read', () => 1);
      await ask.try(ask.text('note'));
      await ask.step('charge', () => charged++, { effect: 'retry' });
    });
    await answer('x');
    await sessions.cancel(session);
    expect(charged).toBe(0);
  });
});

describe('an effect that cannot be undone', () => {
  it('is tried again with growing pauses, then reported, and its session ends all the same', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const tries: number[] = [];
    const tool = flow({ name: 'x' }, async (ask) => {
      const undo = () => {
        tries.push(clock.now());
        throw new Error('gone');
      };
      await ask.step('book', () => 'seat', { effect: 'retry', undo });
      await ask.text('a');
    });
    const log = createLog({ level: 'silent' });
    const sessions = new Sessions([tool], { clock, store, log, limits: { undoAttempts: 4 } });
    const reported = new Promise<unknown>((resolve) =>
      sessions.on((event) => event.kind === 'undo-failed' && resolve(event)),
    );
    const { header, next } = await sessions.start({ ...me, tool: 'x' });
    await next;
    const session = { ...me, sessionId: header.id };
    // The request that cancels returns after the first try.
    expect(await sessions.cancel(session)).toMatchObject({ header: { state: 'cancelled' } });
    expect((await sessions.getState(session)).header.state).toBe('cancelled');
    await expect(sessions.cancel(session)).rejects.toMatchObject({ code: 'FLOW_ALREADY_CANCELLED' });
    await until('all tries', () => (clock.move(250), tries.length === 4));
    expect(await reported).toMatchObject({ header: { state: 'cancelled', notUndone: ['book'] }, steps: ['book'] });
    const pauses = tries.slice(1).map((at, index) => at - tries[index]!);
    expect(pauses).toEqual([1000, 2000, 4000]);
    await sessions.close();
  });

  it('is found again by the next process, though one before it has been undone', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const undone: string[] = [];
    const body = (isFirst: boolean) => async (ask: Ask) => {
      const undo = (what: string) => {
        if (isFirst && what === 'two') throw new Error('not now');
        undone.push(what);
      };
      await ask.step('one', () => 'one', { effect: 'retry', undo });
      await ask.step('two', () => 'two', { effect: 'retry', undo });
      await ask.text('a');
    };
    const options = { store, log: createLog({ level: 'silent' }), leaseMs: LEASE_MS };
    const after = () => () => {};
    const dead = new Sessions([flow({ name: 'x' }, body(true))], {
      ...options,
      clock: { now: () => clock.now(), after },
    });
    const { header, next } = await dead.start({ ...me, tool: 'x' });
    await next;
    await dead.cancel({ ...me, sessionId: header.id });
    expect(undone).toEqual(['one']);
    const other = new Sessions([flow({ name: 'x' }, body(false))], { ...options, clock });
    clock.move(LEASE_MS + 1);
    await other.sweep();
    await until('the end', async () => (await store.load(header.id))?.entries.length === 0);
    expect(undone).toEqual(['one', 'two']);
    await other.close();
  });

  it('is left to the next process when this one dies between two of them, which goes on where it was', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const undone: string[] = [];
    const body = (dies: boolean) => async (ask: Ask) => {
      const step = (key: 'one' | 'two' | 'three') =>
        ask.step(key as 'one', () => key, {
          effect: 'retry',
          undo: (what) => {
            undone.push(what);
            return dies && what === 'two' ? new Promise(() => {}) : undefined;
          },
        });
      for (const key of ['one', 'two', 'three'] as const) await step(key);
      await ask.text('a');
    };
    const log = createLog({ level: 'silent' });
    const process = (dies: boolean) =>
      new Sessions([flow({ name: 'x' }, body(dies))], {
        store,
        log,
        leaseMs: LEASE_MS,
        clock: dies
          ? {
              now: () => clock.now(),
              after: () => () => {},
            }
          : clock,
      });
    const mortal = process(true);
    const { header, next } = await mortal.start({ ...me, tool: 'x' });
    await next;
    const session = { ...me, sessionId: header.id };
    void mortal.cancel(session);
    await until('the second to be taken back', () => undone.length === 2);
    const other = process(false);
    clock.move(LEASE_MS + 1);
    await other.sweep();
    await until('the end', async () => (await store.load(session.sessionId))?.header.state === 'cancelled');
    expect(undone).toEqual(['three', 'two', 'two', 'one']);
    await other.close();
  });

  it('is reported if its outcome is unknown, and the others are undone', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const undone: string[] = [];
    const body = (work: () => Promise<string>) => async (ask: Ask) => {
      await ask.step('book', () => 'seat', { effect: 'retry', undo: (what) => void undone.push(what) });
      await ask.step('fire', work, { effect: 'once', undo: (what) => void undone.push(what) });
    };
    const log = createLog({ level: 'silent' });
    const options = { store, log, leaseMs: LEASE_MS };
    const after = () => () => {};
    const never = () => new Promise<string>(() => {});
    const dead = new Sessions([flow({ name: 'x' }, body(never))], {
      ...options,
      clock: { now: () => clock.now(), after },
    });
    const { header } = await dead.start({ ...me, tool: 'x' });
    await until('it to begin', async () =>
      (await store.load(header.id))?.entries.some(({ t, ...e }) => t === 'int' && 'k' in e && e.k === 'fire'),
    );
    const other = new Sessions(
      [
        flow(
          { name: 'x' },
          body(async () => 'fired'),
        ),
      ],
      { ...options, clock },
    );
    clock.move(LEASE_MS + 1);
    await other.sweep();
    await until('the end', async () => (await store.load(header.id))?.header.state === 'error');
    const stored = await store.load(header.id);
    expect(stored?.header).toMatchObject({ reason: 'effect_unknown', notUndone: ['fire'] });
    expect(undone).toEqual(['seat']);
    await other.close();
  });
});

it('says the same in docs/flows.md', () => {
  const page = readFileSync(new URL('../../../docs/flows.md', import.meta.url), 'utf8');
  const [, table] = /<!-- table: endings -->\n\n([\s\S]*?)\n\n<!-- end of table -->/.exec(page) ?? [];
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rows = ENDINGS.map((ending) => row([ending, ...EFFECTS.map((effect) => promised(ending, effect))]));
  expect(table?.split('\n')).toEqual([
    row(['the session', ...EFFECTS]),
    row(['the session', ...EFFECTS].map(() => '---')),
    ...rows,
  ]);
});
