import { describe, expect, it } from 'vitest';
import type { Clock } from '../../kernel/base/clock.ts';
import { flow } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from './sessions.ts';

const forever = flow({ name: 'forever' }, async (ask) => {
  await ask.text('name', { message: 'Name?' });
  await ask.text('again', { message: 'And again?' });
});
const LIMITS = { sessions: 10_000, sessionsPerPrincipal: 10_000 };

/** How often each kind of thing has happened, and how to wait until it has. */
function watching(sessions: Sessions) {
  const counts = { warning: 0, expired: 0, turn: 0, 'undo-failed': 0, progress: 0, cancelled: 0, person: 0 };
  sessions.on(({ kind }) => counts[kind]++);
  const settled = async (isDone: () => boolean) => {
    for (let turn = 0; turn < 100 && !isDone(); turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { counts, settled };
}

describe('idle sessions', () => {
  it('are warned of and expire, though timers ring a little early', async () => {
    const manual = manualClock();
    // As Node does now and then: its timers go by another clock than the time of day.
    const clock: Clock = {
      now: () => manual.now(),
      after: (ms, callback) => manual.after(Math.max(ms - 1, 0), callback),
    };
    const sessions = new Sessions([forever], { clock, limits: LIMITS });
    const { counts, settled } = watching(sessions);
    await sessions.start({ principal: 'ada', tool: 'forever', timeoutMs: 1000 });
    for (let ms = 0; ms < 1200; ms++) {
      manual.move(1);
      await settled(() => true);
    }
    await settled(() => counts.expired > 0);
    expect(counts).toMatchObject({ warning: 1, expired: 1 });
    await sessions.close();
  });

  it('are warned of and expire in their new time when they were put off, one after the other', async () => {
    const clock = manualClock();
    const sessions = new Sessions([forever], { clock, limits: LIMITS });
    const { counts, settled } = watching(sessions);
    const principal = 'ada';
    const start = () => sessions.start({ principal, tool: 'forever', timeoutMs: 1000 });
    for (const { header, questions } of [await start(), await start()]) {
      clock.move(300);
      const answers = [{ promptId: questions[0]!.promptId, value: 'x' }];
      await sessions.answer({ principal, sessionId: header.id, answers });
    }
    const seen: string[] = [];
    for (let ms = 600; ms < 1700; ms += 10) {
      clock.move(10);
      const before = { ...counts };
      await settled(() => false);
      if (counts.warning > before.warning) seen.push(`warning at ${ms + 10}`);
      if (counts.expired > before.expired) seen.push(`expired at ${ms + 10}`);
    }
    expect(seen).toEqual(['warning at 1100', 'expired at 1300', 'warning at 1400', 'expired at 1600']);
    await sessions.close();
  });

  it('are all looked after, however many are due at once', async () => {
    const clock = manualClock();
    const sessions = new Sessions([forever], { clock, limits: LIMITS });
    const { counts, settled } = watching(sessions);
    for (let count = 0; count < 250; count++) {
      await sessions.start({ principal: 'ada', tool: 'forever', timeoutMs: 1000 });
    }
    clock.move(2000);
    for (let batch = 0; batch < 10 && counts.expired < 250; batch++) {
      await settled(() => counts.expired % 100 === 0 && counts.expired > 0);
      clock.move(200);
      await settled(() => false);
    }
    expect(counts.expired).toBe(250);
    await sessions.close();
  });
});
