// Effects that could not be undone in a durable store: an operator can try again for a week.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../tests/helpers/until.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { flow } from '../../define.ts';
import { conditionOf, parkedReason } from '../../header.ts';
import { leaveRetry } from '../../operator/leave-request.ts';
import { createSqliteStore } from '../../store/sqlite/sqlite.ts';
import type { FlowStore } from '../../store/store.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { DEFAULT_FLOW_LIMITS } from '../context/flow-limits.ts';
import { Sessions } from '../sessions.ts';
import { settled } from './turn.ts';

const me = { principal: 'me' };
let folder: string;
let store: FlowStore;
let clock = manualClock();
beforeEach(async () => {
  clock = manualClock();
  folder = mkdtempSync(join(tmpdir(), 'parley-undo-'));
  store = await createSqliteStore({ path: join(folder, 'flows.db'), clock });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Cancelled, and not undone after two tries. */
async function givenUp() {
  const world = { isAway: true, undone: [] as string[], tries: 0 };
  const tool = flow({ name: 'x' }, async (ask) => {
    const undo = (seat: string) => {
      world.tries++;
      if (world.isAway) throw new Error('away');
      world.undone.push(seat);
    };
    await ask.step('book', () => 'seat', { effect: 'retry', undo });
    await ask.text('a');
  });
  const log = createLog({ level: 'silent' });
  const deploy = () => new Sessions([tool], { clock, store, log, limits: { undoAttempts: 2 } });
  const sessions = deploy();
  const reported: string[][] = [];
  sessions.on((event) => void (event.kind === 'undo-failed' && reported.push(event.steps)));
  const { header } = await settled(await sessions.start({ ...me, tool: 'x' }));
  const session = { ...me, sessionId: header.id };
  await sessions.cancel(session);
  await until('it to be reported', () => (clock.move(250), reported.length === 1));
  const headerNow = async () => (await store.load(header.id))!.header;
  return { world, sessions, deploy, session, headerNow, reported, id: header.id };
}

describe('a session whose effects could not be undone', () => {
  it('has ended for its client, and says what is left', async () => {
    const { sessions, session, headerNow, reported } = await givenUp();
    expect(reported).toEqual([['book']]);
    expect((await sessions.getState(session)).header).toMatchObject({ state: 'cancelled', notUndone: ['book'] });
    const header = await headerNow();
    expect([conditionOf(header), parkedReason(header)]).toEqual(['parked', 'effects could not be undone: book']);
    await expect(sessions.cancel(session)).rejects.toMatchObject({ code: 'FLOW_ALREADY_CANCELLED' });
    await sessions.close();
  });

  it('undoes them when it is retried, also in another process', async () => {
    const { world, sessions, deploy, headerNow, id } = await givenUp();
    await sessions.close();
    world.isAway = false;
    const next = deploy();
    await next.sweep();
    expect(world.undone).toEqual([]);
    await leaveRetry({ store, clock }, id, 'ops');
    expect(conditionOf(await headerNow())).toBe('ending');
    await next.sweep();
    await until('the end', async () => conditionOf(await headerNow()) === 'cancelled');
    expect(world.undone).toEqual(['seat']);
    expect((await headerNow()).notUndone).toBeUndefined();
    await expect(leaveRetry({ store, clock }, id, 'ops')).rejects.toThrow('it has ended');
    await next.close();
  });

  it('ends after a week without them', async () => {
    const { world, sessions, headerNow } = await givenUp();
    const { tries } = world;
    clock.move(DEFAULT_FLOW_LIMITS.parkedMs - 60_000);
    await sessions.sweep();
    expect([world.tries, conditionOf(await headerNow())]).toEqual([tries, 'parked']);
    clock.move(120_000);
    await sessions.sweep();
    await until('the end', async () => conditionOf(await headerNow()) === 'cancelled');
    expect(await headerNow()).toMatchObject({ state: 'cancelled', notUndone: ['book'] });
    expect(
      sessions.context.counts.families().find(({ name }) => name === 'parley_flow_not_undone_total'),
    ).toMatchObject({
      samples: [{ value: 1 }],
    });
    await sessions.close();
  });
});
