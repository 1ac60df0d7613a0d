// Sessions that end while the state that gateways share is away. Nobody waits for what the store then does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toMark } from '../../../kernel/nodes/nodes.ts';
import type { Nodes } from '../../../kernel/nodes/nodes.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import type { State } from '../../../kernel/state/state.ts';
import { fakeContext, FakeClock, request, settled } from '../../eras/fake-context.contract.ts';
import { createHttpEndpoint } from './http-endpoint.ts';

const strays: unknown[] = [];
const keep = (reason: unknown): void => void strays.push(reason);
beforeEach(() => void process.on('unhandledRejection', keep));
afterEach(() => {
  process.off('unhandledRejection', keep);
  strays.length = 0;
});

const nodes: Nodes = {
  self: 'a',
  mark: toMark('a'),
  ownerOf: () => undefined,
  sessionOwnerOf: () => undefined,
  isAlive: async () => true,
  isSettled: () => Promise.resolve(true),
  onReturn: () => {},
  forward: async () => ({ kind: 'unsent' }),
};
const clientInfo = { name: 'c', version: '1' };
const opening = request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
const headers = {
  host: '127.0.0.1',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** A node whose state can go away. */
function node() {
  const clock = new FakeClock();
  const kept: State = new MemoryState(clock, { isShared: true });
  const away = { is: false };
  const state = new Proxy(kept, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        away.is ? Promise.reject(new GatewayError('STATE_FAILED')) : (value.apply(target, args) as unknown);
    },
  });
  const limits = { maxSessionsPerCaller: 2 };
  const context = Object.assign(fakeContext(undefined, { clock, limits }), { nodes, state });
  const { fetch } = createHttpEndpoint(context, {});
  const ask = (method: string, more: Record<string, string> = {}, body?: string) =>
    fetch(new Request('http://127.0.0.1/mcp', { method, headers: { ...headers, ...more }, body: body ?? null }));
  const open = async (): Promise<string> => {
    const answer = await ask('POST', {}, JSON.stringify(opening));
    await answer.text();
    await settled();
    return answer.headers.get('mcp-session-id')!;
  };
  const kill = (id: string) => ask('DELETE', { 'mcp-session-id': id });
  /** Those that have not ended: of ended ones, a row without anything in it says so. */
  const rows = async () => {
    const all = [...(await kept.list('sessions'))];
    return all.filter(([, { value }]) => value.includes('binding')).map(([id]) => id);
  };
  const comeBack = async (): Promise<void> => {
    away.is = false;
    clock.advance(2000);
    await settled();
  };
  return { clock, away, open, kill, rows, comeBack };
}

describe('a session that ends while the state is away ends no process, and is erased when the state is back', () => {
  it('when its client deletes it', async () => {
    const { away, open, kill, rows, comeBack } = node();
    const id = await open();
    expect(await rows()).toEqual([id]);
    away.is = true;
    expect((await kill(id)).status).toBeGreaterThanOrEqual(500);
    expect((await kill(id)).status).toBeGreaterThanOrEqual(400);
    await settled();
    expect(strays).toEqual([]);
    await comeBack();
    expect(await rows()).toEqual([]);
  });

  it('when it was idle for too long', async () => {
    const { clock, away, open, rows, comeBack } = node();
    const id = await open();
    expect(await rows()).toEqual([id]);
    away.is = true;
    for (let quarter = 0; quarter < 6; quarter++) {
      clock.advance(450_000);
      await settled();
    }
    expect(strays).toEqual([]);
    await comeBack();
    expect(await rows()).toEqual([]);
  });

  it('when it makes room for another one of its caller', async () => {
    const { away, open, rows, comeBack } = node();
    const first = await open();
    const second = await open();
    away.is = true;
    const third = await open();
    await settled();
    expect(strays).toEqual([]);
    await comeBack();
    expect(await rows()).toEqual([second, third]);
    expect(third).not.toBe(first);
  });
});
