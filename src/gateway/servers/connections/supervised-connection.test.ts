import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { FakeClock, settled } from '../../../mcp/eras/fake-context.contract.ts';
import { SupervisedConnection } from './supervised-connection.ts';
import type { SupervisedConnectionOptions } from './supervised-connection.ts';
import type { ConnectedServer } from '../../../mcp/connect/connected-server.ts';

/** A server whose opening ends when the test says so. */
function setUp(options: Partial<SupervisedConnectionOptions> = {}) {
  const openings: {
    signal: AbortSignal;
    done: (connected: ConnectedServer) => void;
    fail: (error: Error) => void;
    onClose: (reason: string) => void;
  }[] = [];
  const counts = { opened: 0, closed: 0 };
  const clock = new FakeClock();
  const supervised = new SupervisedConnection({
    clock,
    ...options,
    open: (onClose, signal) => new Promise((done, fail) => openings.push({ signal, done, fail, onClose })),
    onOpen: () => void counts.opened++,
  });
  const connected = { close: async () => void counts.closed++ } as unknown as ConnectedServer;
  return { supervised, openings, counts, connected, clock };
}

const CLOSING = { code: 'UPSTREAM_CLOSED', details: { reason: 'Parley is closing' } };

describe('a connection that is closed while it is opened', () => {
  it('closing aborts the opening and rejects its waiters', async () => {
    const { supervised, openings, counts } = setUp();
    const waiting = supervised.get();
    const closed = supervised.close();
    const [{ signal, fail }] = openings as [(typeof openings)[0]];
    expect(signal.aborted).toBe(true);
    fail(new Error('torn'));
    await expect(waiting).rejects.toMatchObject(CLOSING);
    await closed;
    expect(supervised).toMatchObject({ isClosed: true, failure: undefined, state: 'idle' });
    expect(counts).toEqual({ opened: 0, closed: 0 });
  });

  it('a connection that opens after the close is closed at once', async () => {
    const { supervised, openings, counts, connected } = setUp();
    const waiting = supervised.get();
    const closed = supervised.close();
    openings[0]!.done(connected);
    await expect(waiting).rejects.toMatchObject(CLOSING);
    await closed;
    expect(counts).toEqual({ opened: 0, closed: 1 });
    await expect(supervised.get()).rejects.toMatchObject(CLOSING);
    expect(openings).toHaveLength(1);
  });
});

it('a lost connection counts among the processes until its own has ended', async () => {
  const closing: Promise<void>[] = [];
  const { supervised, openings } = setUp({ onClosing: (closed) => void closing.push(closed) });
  const waiting = supervised.get();
  let end = (): void => {};
  const drop = () => new Promise<void>((resolve) => (end = resolve));
  openings[0]!.done({ drop } as unknown as ConnectedServer);
  await waiting;
  openings[0]!.onClose('it does not read its input');
  expect([supervised.state, closing.length]).toEqual(['idle', 1]);
  end();
  await closing[0];
});

it('an open connection is closed, and its opening is not aborted', async () => {
  const { supervised, openings, counts, connected } = setUp();
  const waiting = supervised.get();
  openings[0]!.done(connected);
  expect(await waiting).toBe(connected);
  await supervised.close();
  expect(counts).toEqual({ opened: 1, closed: 1 });
});

it('a failure is reported at once until the next attempt is due', async () => {
  const { supervised, openings } = setUp();
  const waiting = supervised.get();
  const failure = new GatewayError('UPSTREAM_UNREACHABLE', { server: 's', reason: 'gone' });
  openings[0]!.fail(failure);
  await expect(waiting).rejects.toBe(failure);
  await expect(supervised.get()).rejects.toBe(failure);
  await settled();
  expect(openings).toHaveLength(1);
  expect(supervised.state).toBe('failing');
});

describe('a connection that is not used', () => {
  async function open(options: Partial<SupervisedConnectionOptions>) {
    const made = setUp({ idleMs: 1000, ...options });
    const waiting = made.supervised.get();
    made.openings[0]!.done(made.connected);
    await waiting;
    const pass = (ms: number): void => {
      for (let passed = 0; passed < ms; passed += 250) made.clock.advance(250);
    };
    return { ...made, pass };
  }

  it('is closed after a while, also if it never was, and opened again when it is needed', async () => {
    const { supervised, counts, openings, pass } = await open({});
    pass(750);
    expect(supervised.isLive).toBe(true);
    pass(250);
    expect(supervised.isLive).toBe(false);
    expect(counts.closed).toBe(1);
    void supervised.get();
    expect(openings).toHaveLength(2);
  });

  it('a connection stays open while a client relies on it, and for the idle time after that', async () => {
    let isKept = true;
    const { supervised, pass } = await open({ isKept: () => isKept });
    pass(5000);
    isKept = false;
    pass(750);
    expect(supervised.isLive).toBe(true);
    pass(250);
    expect(supervised.isLive).toBe(false);
  });

  it('stays while it is used', async () => {
    const { supervised, pass } = await open({});
    supervised.take();
    pass(5000);
    expect(supervised.isLive).toBe(true);
    supervised.giveBack();
    pass(1000);
    expect(supervised.isLive).toBe(false);
  });
});

it('a connection that may not be opened is refused without counting as a failure', async () => {
  let isFull = true;
  const admit = (): undefined => {
    if (isFull) throw new GatewayError('TOO_MANY_PROCESSES', { server: 's', count: 1, max: 1 });
  };
  const { supervised, openings, connected } = setUp({ admit });
  await expect(supervised.get()).rejects.toMatchObject({ code: 'TOO_MANY_PROCESSES' });
  expect(supervised.state).toBe('idle');
  isFull = false;
  const waiting = supervised.get();
  openings[0]!.done(connected);
  expect(await waiting).toBe(connected);
});

it('a connection opens when the one that makes room for it has ended', async () => {
  let leave = (): void => {};
  const admit = () => new Promise<void>((resolve) => (leave = resolve));
  const { supervised, openings, connected } = setUp({ admit });
  const waiting = supervised.get();
  await Promise.resolve();
  expect({ openings: openings.length, isLive: supervised.isLive }).toEqual({ openings: 0, isLive: true });
  leave();
  await vi.waitFor(() => openings[0]!.done(connected));
  expect(await waiting).toBe(connected);
});

it('one that is lost again before it has served a call is failing, and one that has served is started at once', async () => {
  const { supervised, openings } = setUp();
  const lose = async (hasServed: boolean): Promise<void> => {
    const used = supervised.use(async () => {});
    openings.at(-1)!.done({ hasServed, close: async () => {} } as unknown as ConnectedServer);
    await used;
    openings.at(-1)!.onClose('it hangs');
  };
  for (let round = 0; round < 3; round++) {
    await lose(true);
    expect(supervised.state).toBe('idle');
  }
  await lose(false);
  expect(supervised.state).toBe('failing');
  await expect(supervised.get()).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED', details: { reason: 'it hangs' } });
});

it('a time of day that is set back does not keep a server that failed from being tried again', async () => {
  const clock = new FakeClock();
  let setBack = 0;
  const { supervised, openings } = setUp({
    clock: {
      now: () => clock.now() - setBack,
      ticks: () => clock.now(),
      after: (ms, callback) => clock.after(ms, callback),
    },
  });
  const waiting = supervised.get();
  openings[0]!.fail(new GatewayError('UPSTREAM_UNREACHABLE', { server: 's', reason: 'gone' }));
  await expect(waiting).rejects.toThrow('gone');
  setBack = 3_600_000;
  clock.advance(60_000);
  supervised.get().catch(() => {});
  expect(openings).toHaveLength(2);
});
