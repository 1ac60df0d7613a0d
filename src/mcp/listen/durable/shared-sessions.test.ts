import { describe, expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toMark } from '../../../kernel/nodes/nodes.ts';
import type { Nodes } from '../../../kernel/nodes/nodes.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import type { State } from '../../../kernel/state/state.ts';
import { FakeClock, settled } from '../../eras/fake-context.contract.ts';
import { SharedSessions } from './shared-sessions.ts';

const IDLE_MS = 1_800_000;
const log = createLog({ level: 'silent' });
const record = () => ({ binding: 'me', opening: { clientInfo: { name: 'c' } }, subscriptions: new Set<string>() });

/** Nodes of one state. */
function world() {
  const clock = new FakeClock();
  const state: State = new MemoryState(clock, { isShared: true });
  const alive = new Set<string>();
  const broken = { is: false };
  const settles = { is: true };
  const failing = new Proxy(state, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        broken.is ? Promise.reject(new GatewayError('STATE_FAILED')) : (value.apply(target, args) as unknown);
    },
  });
  const node = (self: string) => {
    alive.add(self);
    const returns: (() => void)[] = [];
    const nodes: Nodes = {
      self,
      mark: toMark(self),
      ownerOf: () => undefined,
      sessionOwnerOf: () => undefined,
      isAlive: async (other) => alive.has(other),
      isSettled: async () => settles.is,
      onReturn: (back) => void returns.push(back),
      forward: async () => ({ kind: 'unsent' }),
    };
    const lost: string[] = [];
    const sessions = new SharedSessions({ state: failing, nodes, idleMs: IDLE_MS, clock, log });
    sessions.onLost((id) => lost.push(id));
    return { sessions, lost, die: () => alive.delete(self), wake: () => returns.forEach((back) => back()) };
  };
  return { clock, state, node, broken, settles };
}

describe('sessions that gateways share', () => {
  it('belong to the node that began them, for as long as it is there', async () => {
    const { node } = world();
    const [a, b] = [node('a'), node('b')];
    const id = a.sessions.name();
    expect(id).toMatch(/^[\w-]{22}\.a$/);
    await a.sessions.begin(id, record());
    expect(await b.sessions.takeOver(id, 'me')).toEqual({ owner: 'a' });
    a.die();
    expect(await b.sessions.takeOver(id, 'me')).toEqual({ ...record(), level: undefined });
  });

  it('are taken over by one of many, and the others are told by whom', async () => {
    const { node } = world();
    const first = node('a');
    await first.sessions.begin('id', record());
    first.die();
    const others = Array.from({ length: 20 }, (_, n) => node(`n${n}`));
    const taken = await Promise.all(others.map(({ sessions }) => sessions.takeOver('id', 'me')));
    expect(taken.filter((one) => one && 'opening' in one)).toHaveLength(1);
    expect(new Set(taken.flatMap((one) => (one && 'owner' in one ? one.owner : []))).size).toBe(1);
  });

  it('are nothing to another caller, and nothing once they have ended', async () => {
    const { node } = world();
    const [a, b] = [node('a'), node('b')];
    await a.sessions.begin('id', record());
    a.die();
    expect(await b.sessions.takeOver('id', 'you')).toBeUndefined();
    await a.sessions.end('id');
    expect(await b.sessions.takeOver('id', 'me')).toBeUndefined();
    expect(await a.sessions.takeOver('id', 'me')).toBeUndefined();
  });

  it('keep what their client has set', async () => {
    const { node } = world();
    const [a, b] = [node('a'), node('b')];
    await a.sessions.begin('id', record());
    a.sessions.change('id', { level: 'debug' });
    a.sessions.change('id', { subscribe: 'u:1' });
    await settled();
    a.die();
    expect(await b.sessions.takeOver('id', 'me')).toMatchObject({ level: 'debug', subscriptions: new Set(['u:1']) });
  });

  it('are lost by a node that was taken for dead, before it uses them again', async () => {
    const { node } = world();
    const [a, b] = [node('a'), node('b')];
    await a.sessions.begin('id', record());
    a.die();
    await b.sessions.takeOver('id', 'me');
    a.wake();
    expect(a.sessions.isSure).toBe(false);
    expect(await a.sessions.isOurs('id')).toBe(false);
    expect(a.lost).toEqual(['id']);
    a.sessions.change('id', { level: 'error' });
    await settled();
    b.die();
    expect(await node('c').sessions.takeOver('id', 'me')).toMatchObject({ level: undefined });
  });

  it('sessions that have ended while one of their nodes was cut off end there, too', async () => {
    const { state, node } = world();
    const [a, b] = [node('a'), node('b')];
    await a.sessions.begin('id', record());
    a.die();
    await b.sessions.takeOver('id', 'me');
    await b.sessions.end('id');
    a.wake();
    await settled();
    expect(await a.sessions.isOurs('id')).toBe(true); // it is not its own any more
    expect(a.lost).toEqual(['id']);
    for (const one of [a, b, node('c')]) expect(await one.sessions.takeOver('id', 'me')).toBeUndefined();
    expect((await state.get('sessions', 'id'))?.value).not.toContain('binding');
  });

  it('that were released are taken over although their node is there', async () => {
    const { node } = world();
    const [a, b] = [node('a'), node('b')];
    await a.sessions.begin('id', record());
    await a.sessions.release(['id']);
    expect(await b.sessions.takeOver('id', 'me')).toMatchObject({ binding: 'me' });
  });

  it('begin while the state fails, and are written when it is back', async () => {
    const { clock, node, broken } = world();
    const [a, b] = [node('a'), node('b')];
    broken.is = true;
    await a.sessions.begin('id', record());
    expect(await a.sessions.isOurs('id')).toBe(true);
    broken.is = false;
    clock.advance(2000);
    await settled();
    a.die();
    expect(await b.sessions.takeOver('id', 'me')).toMatchObject({ binding: 'me' });
  });

  it('whose end could not be written stay ended here, and end everywhere when the state is back', async () => {
    const { clock, node, broken } = world();
    const [a, b] = [node('a'), node('b')];
    await a.sessions.begin('id', record());
    broken.is = true;
    await expect(a.sessions.end('id')).rejects.toThrow();
    broken.is = false;
    expect(await a.sessions.takeOver('id', 'me')).toBeUndefined();
    clock.advance(2000);
    await settled();
    a.die();
    expect(await b.sessions.takeOver('id', 'me')).toBeUndefined();
  });

  it('whose rows the state has lost are written again by their node, and nobody is told meanwhile that they do not exist', async () => {
    const { state, node, settles } = world();
    const [a, b] = [node('a'), node('b')];
    const ids = Array.from({ length: 250 }, (_, n) => `id-${n}`);
    for (const id of ids) await a.sessions.begin(id, record());
    for (const id of ids) await state.remove('sessions', id);
    settles.is = false;
    expect(await b.sessions.takeOver('id-0', 'me')).toEqual({ isUnsettled: true });
    a.wake();
    await settled();
    settles.is = true;
    expect((await state.list('sessions')).size).toBe(ids.length);
    expect(await b.sessions.takeOver('id-0', 'me')).toEqual({ owner: 'a' });
  });
});
