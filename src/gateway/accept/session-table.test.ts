import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import { FakeClock } from '../dialect/fake-front.contract.ts';
import { SessionTable } from './session-table.ts';

class FakeSession {
  closed = 0;
  isBusy = false;
  lastSeen: number;
  readonly id: string;
  readonly owner: string | undefined;

  constructor(id: string, clock: FakeClock, owner?: string) {
    this.id = id;
    this.owner = owner;
    this.lastSeen = clock.now();
  }

  close(): void {
    this.closed += 1;
  }
}

function table(limits = {}) {
  const clock = new FakeClock();
  const sessions = new SessionTable<FakeSession>({ ...DEFAULT_LIMITS, sessionIdleMs: 1000, ...limits }, clock);
  const add = (id: string, owner?: string) => {
    const session = new FakeSession(id, clock, owner);
    sessions.add(session);
    return session;
  };
  return { clock, sessions, add };
}

describe('sessions', () => {
  it("somebody else's is told as if it did not exist", () => {
    const { sessions, add } = table();
    add('a', 'alice');
    add('b');
    for (const [id, owner] of [
      ['a', 'bob'],
      ['a', undefined],
      ['b', 'bob'],
      ['none', undefined],
    ] as const) {
      expect(() => sessions.get(id, owner)).toThrow(expect.objectContaining({ code: 'SESSION_NOT_FOUND' }) as Error);
      expect(sessions.has(id, owner)).toBe(false);
    }
    expect(sessions.get('a', 'alice').id).toBe('a');
    expect(sessions.has('b', undefined)).toBe(true);
  });

  it('an idle one is closed and gone after its time, one that is used or busy stays', () => {
    const { clock, sessions, add } = table();
    const [idle, used, busy] = [add('idle'), add('used'), add('busy')];
    busy.isBusy = true;
    for (let step = 0; step < 8; step++) {
      clock.advance(250);
      sessions.get('used', undefined);
    }
    expect([idle.closed, used.closed, busy.closed]).toEqual([1, 0, 0]);
    expect(() => sessions.get('idle', undefined)).toThrow();
    busy.isBusy = false;
    for (let step = 0; step < 8; step++) clock.advance(250);
    expect([used.closed, busy.closed]).toEqual([1, 1]);
    expect(clock.timers).toBe(0);
  });

  it('beyond the limit there are no new ones until one ends', () => {
    const { sessions, add } = table({ maxSessions: 1 });
    const first = add('a');
    expect(() => add('b')).toThrow(expect.objectContaining({ code: 'TOO_MANY' }) as Error);
    sessions.remove(first);
    add('b');
    expect(sessions.size).toBe(1);
  });

  it('closing the table closes each once and leaves no timer', () => {
    const { clock, sessions, add } = table();
    const all = [add('a'), add('b')];
    sessions.close();
    expect(all.map(({ closed }) => closed)).toEqual([1, 1]);
    expect(sessions.size).toBe(0);
    expect(clock.timers).toBe(0);
  });
});
