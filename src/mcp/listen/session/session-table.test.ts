import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { checkOwnedThings } from '../../../kernel/containers/owned-table.contract.ts';
import { FakeClock } from '../../eras/fake-context.contract.ts';
import { SessionTable } from './session-table.ts';

class FakeSession {
  closed = 0;
  isBusy = false;
  lastSeen: number;
  isUsed = false;
  readonly id: string;
  readonly owner: string | undefined;

  constructor(id: string, clock: FakeClock, owner?: string) {
    this.id = id;
    this.owner = owner;
    this.lastSeen = clock.now();
  }

  end(): void {
    this.closed += 1;
  }

  close(): void {
    this.closed += 1;
  }
}

function table(limits = {}) {
  const clock = new FakeClock();
  const sessions = new SessionTable<FakeSession>({ ...DEFAULT_LIMITS, sessionIdleMs: 1000, ...limits }, clock);
  const add = (id: string, owner?: string, caller = 'caller') => {
    const session = new FakeSession(id, clock, owner);
    sessions.add(session, caller);
    return session;
  };
  return { clock, sessions, add };
}

checkOwnedThings('sessions', () => {
  const { clock, sessions, add } = table({ maxSessionsPerCaller: 2 });
  const opened = new Map<string, FakeSession>();
  return {
    get expired() {
      return [...opened].flatMap(([id, { closed }]) => Array<string>(closed).fill(id));
    },
    add(owner, caller = owner) {
      const id = `session-${opened.size}`;
      opened.set(id, add(id, owner, caller));
      return id;
    },
    has: (id, owner) => sessions.find(id, owner) !== undefined,
    end(id, owner) {
      if (!sessions.find(id, owner)) return;
      sessions.remove(opened.get(id)!);
      opened.get(id)!.closed = 0;
    },
    expire() {
      for (let step = 0; step < 8; step++) clock.advance(250);
    },
    close: () => sessions.close(),
    timers: () => clock.timers,
  };
});

describe('sessions', () => {
  it('of another caller seem not to exist', () => {
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
      expect(sessions.find(id, owner)).toBe(undefined);
    }
    expect(sessions.get('a', 'alice').id).toBe('a');
    expect(sessions.find('b', undefined)?.id).toBe('b');
  });

  it('end when idle for too long, but not while used or busy', () => {
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

  it('do not become idle when the system time jumps', () => {
    class Jumping extends FakeClock {
      jumped = 0;
      override now(): number {
        return super.now() + this.jumped;
      }
      ticks(): number {
        return super.now();
      }
    }
    const clock = new Jumping();
    const sessions = new SessionTable<FakeSession>({ ...DEFAULT_LIMITS, sessionIdleMs: 1000 }, clock);
    const session = new FakeSession('a', clock);
    sessions.add(session, 'caller');
    clock.jumped = 3_600_000;
    clock.advance(250);
    expect([session.closed, sessions.get('a', undefined)]).toEqual([0, session]);
    for (let step = 0; step < 8; step++) clock.advance(250);
    expect(session.closed).toBe(1);
  });

  it('are refused beyond the limit until one ends', () => {
    const { sessions, add } = table({ maxSessions: 1 });
    const first = add('first');
    expect(() => add('second', undefined, 'other')).toThrow(
      expect.objectContaining({ code: 'TOO_MANY', details: { what: 'sessions', limit: 'maxSessions' } }) as Error,
    );
    sessions.remove(first);
    add('third', undefined, 'other');
    expect(sessions.size).toBe(1);
  });

  it('of one caller are replaced by its own new ones, the longest idle first', () => {
    const { clock, sessions, add } = table({ maxSessionsPerCaller: 3 });
    const other = add('other', undefined, 'somebody else');
    const [busy, used, idle] = [add('busy'), add('used'), add('idle')];
    busy.isBusy = true;
    clock.advance(10);
    sessions.get('used', undefined);
    add('new');
    expect([busy, used, idle, other].map(({ closed }) => closed)).toEqual([0, 0, 1, 0]);
    clock.advance(10);
    sessions.get('used', undefined);
    add('newer');
    expect([used.closed, sessions.find('new', undefined), sessions.size]).toEqual([0, undefined, 4]);
  });

  it('of one caller are limited while all are in use, without affecting others', () => {
    const { sessions, add } = table({ maxSessionsPerCaller: 2 });
    const [one, two] = [add('one'), add('two')];
    one.isBusy = two.isBusy = true;
    expect(() => add('three')).toThrow(
      expect.objectContaining({ details: { what: 'sessions', limit: 'maxSessionsPerCaller' } }) as Error,
    );
    add('other', undefined, 'somebody else');
    sessions.remove(one);
    add('three');
    expect(sessions.size).toBe(3);
  });

  it('are closed once with the table, which leaves no timer', () => {
    const { clock, sessions, add } = table();
    const all = [add('a'), add('b')];
    sessions.close();
    expect(all.map(({ closed }) => closed)).toEqual([1, 1]);
    expect(sessions.size).toBe(0);
    expect(clock.timers).toBe(0);
  });
});
