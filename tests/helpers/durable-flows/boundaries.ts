// The boundaries of a play, each with a name that is the same in every play and every process: what is written, and how far the session has
// come. Some are matters of time, and are not passed by every play: a lease that is renewed or taken over, a commit that is refused because somebody else was
// faster, and that a result is forgotten some time after its call was answered. Their names say so.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FlowStore, JournalEntry as Entry, SessionHeader as Header } from 'mcp-parley/flow';

/** Lets a process go on past a boundary, or never. `whose`: who plays, by name or as the header of a session says it. */
export type Pass = (whose: string | undefined, names: string[]) => Promise<void>;

type Change = Parameters<FlowStore['commit']>[2];

const ENDS: ReadonlySet<string> = new Set(['completed', 'cancelled', 'error']);
const BY_TIME = 'by time: ';
/** A commit that adds nothing, while steps run and no question is open. */
const WORKING = 'commit working';

/**
 * A name of something that happens in some plays and not in others, even without kills. `isDrill`: questions end by themselves, and whether
 * one is still open while a step runs is a matter of time.
 */
export function isByTime(name: string, { isDrill }: { isDrill: boolean }): boolean {
  return name.includes(BY_TIME) || (isDrill && name.includes(WORKING));
}

interface Known {
  whose: string;
  /** The question that was answered last. */
  at: string;
  isEnding: boolean;
  /** Who has leased it in this process, and who has it now. */
  owners: Set<string>;
  holder?: string | undefined;
}

/** Who has made the request that is at work; what is written beside sessions does not say whose it is. */
export const caller = new AsyncLocalStorage<string>();

export interface Watcher {
  pass: Pass;
  /** It does nothing more until the process dies. */
  isHeld(whose: string): boolean;
}

export function watchedStore(store: FlowStore, watcher: Watcher): FlowStore {
  const pass: Pass = (whose, names) => watcher.pass(whose, names);
  const known = new Map<string, Known>();
  const learn = (header: Header, entries: readonly Entry[]): Known => {
    const { id, principal: whose, pending } = header;
    const one = known.get(id) ?? { whose, at: 'start', isEnding: false, owners: new Set() };
    known.set(id, one);
    one.at = entries.reduce((at, entry) => (entry.t === 'ans' ? entry.k : at), one.at);
    one.isEnding = pending !== undefined;
    return one;
  };
  const find = async (id: string): Promise<Known | undefined> => {
    if (known.has(id)) return known.get(id);
    const stored = await store.load(id);
    return stored && learn(stored.header, stored.entries);
  };
  const around = async <T>(whose: string | undefined, names: string[], work: () => Promise<T>): Promise<T> => {
    await pass(
      whose,
      names.map((name) => `before ${name}`),
    );
    const done = await work();
    await pass(
      whose,
      names.map((name) => `after ${name}`),
    );
    return done;
  };
  const where = (one: Known | undefined): string => `${one?.isEnding ? 'ending ' : ''}at ${one?.at}`;
  const watched: Partial<FlowStore> = {
    async create(header, entries, limits) {
      return around(header.principal, toNames('create', entries), async () => {
        const made = await store.create(header, entries, limits);
        if (made === 'ok') learn(header, entries);
        return made;
      });
    },
    async load(id) {
      const stored = await store.load(id);
      if (stored) learn(stored.header, stored.entries);
      return stored;
    },
    /** Nobody looks after a session that is held. */
    async due(now, max) {
      const found = await store.due(now, max);
      const owned = await Promise.all(found.map(async (id) => ({ id, one: await find(id) })));
      return owned.filter(({ one }) => !one || !watcher.isHeld(one.whose)).map(({ id }) => id);
    },
    async commit(id, rev, change) {
      const one = await find(id);
      const names = toCommitNames(change, where(one));
      await pass(
        one?.whose,
        names.map((name) => `before ${name}`),
      );
      const done = await store.commit(id, rev, change);
      const late = done.ok ? '' : BY_TIME;
      if (one && done.ok) {
        one.at = (change.add ?? []).reduce((at, entry) => (entry.t === 'ans' ? entry.k : at), one.at);
        if ('pending' in change.patch) one.isEnding = change.patch.pending !== undefined;
      }
      await pass(
        one?.whose,
        names.map((name) => `${late}after ${name}`),
      );
      return done;
    },
    async lease(id, owner, ms) {
      const one = await find(id);
      const isOthers = one?.holder !== undefined && one.holder !== owner;
      const what = one?.owners.has(owner) ? `${BY_TIME}renewal` : isOthers ? `${BY_TIME}take-over` : 'lease';
      one?.owners.add(owner);
      return around(one?.whose, [`${what} ${where(one)}`], async () => {
        const lease = await store.lease(id, owner, ms);
        if (one && lease) one.holder = owner;
        return lease;
      });
    },
    async release(id, owner) {
      const one = await find(id);
      const isLate = one !== undefined && one.holder !== owner;
      if (one && !isLate) one.holder = undefined;
      return around(one?.whose, [`${isLate ? BY_TIME : ''}release ${where(one)}`], () => store.release(id, owner));
    },
    spend: (id, rev, ms) => around(caller.getStore(), [`spend turn ${rev}`], () => store.spend(id, rev, ms)),
    putBlob: (name, bytes, ms) =>
      around(caller.getStore(), [`blob ${toKind(bytes)}`], () => store.putBlob(name, bytes, ms)),
    async forgetOutcome(id) {
      const one = await find(id);
      return around(one?.whose, [`${BY_TIME}forgotten outcome`], () => store.forgetOutcome!(id));
    },
  };
  // A store may be an instance of a class with private fields, whose methods need it as `this`.
  return new Proxy(store, {
    get(_store, key: keyof FlowStore) {
      const found = watched[key] ?? store[key];
      return typeof found === 'function' ? found.bind(store) : found;
    },
  });
}

/** Those that are added at once are so many boundaries: in another play each of them may be added by itself. */
function toNames(verb: string, entries: readonly Entry[]): string[] {
  const added = entries.map((entry) =>
    [entry.t, 'k' in entry ? entry.k : 'id' in entry ? entry.id : ''].join(' ').trim(),
  );
  return added.map((one) => `${verb} ${one}`);
}

function toCommitNames({ patch, add = [] }: Change, where: string): string[] {
  if (patch.state !== undefined && ENDS.has(patch.state)) return [`commit end ${patch.state}`];
  if (add.length > 0) return toNames('commit', add);
  if (patch.state === 'processing') return [`${WORKING} ${where}`];
  return [`commit ${Object.keys(patch).toSorted().join(', ')} ${where}`];
}

function toKind(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  return text.startsWith('session_') ? 'note' : text.includes('503') ? 'file' : 'secret';
}
