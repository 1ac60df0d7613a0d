// A store for sessions that are kept nowhere: it holds what a request has brought along, for as long as that request lasts. Each
// request has a world of its own, so that two forks of one session never meet.
// What must be shared after all (spent turns, files, secrets) goes to another store, if there is one.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Frame, Waiting } from '../session/frame.ts';
import { memoryStore } from '../store/memory.ts';
import type { FlowStore, StoredSession } from '../store/store.ts';

export interface CarriedStore extends FlowStore {
  /** Does the work with this session, or with none yet; gives its result, and the session as it is afterwards. */
  carry<T>(
    session: Waiting | undefined,
    work: () => Promise<T>,
    /** Called before it has any effect; what it throws stops it. */
    onEffect?: () => Promise<void>,
  ): Promise<{ value: T; session?: StoredSession }>;
}

interface World {
  store: FlowStore;
  id: string | undefined;
  frame: Frame | undefined;
  onEffect: (() => Promise<void>) | undefined;
}

const UNBOUNDED = { perPrincipal: Infinity, total: Infinity };

export function createCarriedStore(options: { shared?: FlowStore | undefined; clock?: Clock } = {}): CarriedStore {
  const { shared, clock } = options;
  const worlds = new AsyncLocalStorage<World>();
  const here = (): World => {
    const world = worlds.getStore();
    if (!world) throw new GatewayError('STORE_FAILED', { reason: 'no session was brought along' });
    return world;
  };
  const beside = (): FlowStore => shared ?? here().store;
  return {
    durable: true,
    async carry(session, work, onEffect) {
      const { header, frame } = session ?? {};
      const world: World = { store: memoryStore(clock && { clock }), id: header?.id, frame, onEffect };
      if (session) await world.store.create(session.header, session.entries, UNBOUNDED);
      const value = await worlds.run(world, work);
      const after = world.id === undefined ? undefined : await world.store.load(world.id);
      return { value, ...(after && { session: after }) };
    },
    async create(header, entries, limits) {
      const world = here();
      world.id = header.id;
      // How many others there are is not known.
      return world.store.create(header, entries, { ...UNBOUNDED, dueAt: limits.dueAt });
    },
    async load(id): Promise<Waiting | undefined> {
      const { store, frame } = here();
      const stored = await store.load(id);
      return frame && stored?.header.rev === frame.header.rev ? { ...stored, frame } : stored;
    },
    commit: async (id, expectRev, change) => here().store.commit(id, expectRev, change),
    async lease(id, owner, ms) {
      const { store, onEffect } = here();
      await onEffect?.();
      return store.lease(id, owner, ms);
    },
    release: async (id, owner) => here().store.release(id, owner),
    due: async () => [],
    spend: async (id, rev, ttlMs) => beside().spend(id, rev, ttlMs),
    putBlob: async (sha256, bytes, ttlMs) => beside().putBlob(sha256, bytes, ttlMs),
    getBlob: async (sha256) => beside().getBlob(sha256),
    list: async () => [],
    drop: async (id) => here().store.drop(id),
    close: async () => shared?.close(),
  };
}
