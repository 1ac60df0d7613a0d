// Where the browsers that were paired are remembered: in a file of the operator, which only its owner can read, in the state that gateways share,
// or in memory. What is remembered are hashes.
import { isObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { readIfThere, writePrivateFile } from '../../kernel/files/private-file.ts';
import type { State } from '../../kernel/state/state.ts';

interface RememberedHash {
  readonly hash: string;
  /** What the gateway serves: a configuration file or a wrapped command. Of gateways that share a state: all of them. */
  readonly gateway: string;
  /** Whose questions it may answer, where users log in. */
  readonly user?: string | undefined;
}

export interface PairedBrowser extends RememberedHash {
  readonly name: string;
  /** ISO 8601. */
  readonly created: string;
}

export interface Invitation extends RememberedHash {
  /** Wall-clock time in ms. */
  readonly expires: number;
}

export interface PairingRecords {
  readonly browsers: readonly PairedBrowser[];
  readonly invitations: readonly Invitation[];
  /** The secret part of the path of the page, for each gateway. */
  readonly paths?: Readonly<Record<string, string>> | undefined;
}

/** What a change leaves, and what its maker wants to know. Without `next` nothing changes. */
interface PairingChange<T> {
  next?: PairingRecords | undefined;
  done: T;
}

export interface PairingStore {
  read(): Promise<PairingRecords>;
  /** `change` may be called again if somebody else was faster. */
  update<T>(change: (latest: PairingRecords) => PairingChange<T>): Promise<T>;
}

/** Names gateways that share a state, to paired browsers. */
export const SHARED_GATEWAY = 'shared';

const NOTHING: PairingRecords = { browsers: [], invitations: [] };
const SET = 'pairings';
const KEY = 'all';
const MAX_TRIES = 20;

export function pairingsInMemory(): PairingStore {
  let kept = NOTHING;
  return {
    read: async () => kept,
    async update(change) {
      const { next, done } = change(kept);
      kept = next ?? kept;
      return done;
    },
  };
}

export function pairingsInFile(path: string): PairingStore {
  return {
    read: async () => readPairingFile(path),
    async update(change) {
      const { next, done } = change(readPairingFile(path));
      if (next) writePrivateFile(path, `${JSON.stringify(next, null, 2)}\n`);
      return done;
    },
  };
}

export function pairingsInState(state: State): PairingStore {
  const read = async (): Promise<{ records: PairingRecords; version: number }> => {
    const entry = await state.get(SET, KEY);
    return entry
      ? { records: JSON.parse(entry.value) as PairingRecords, version: entry.version }
      : { records: NOTHING, version: 0 };
  };
  return {
    read: async () => (await read()).records,
    async update(change) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const { records, version } = await read();
        const { next, done } = change(records);
        if (!next || (await state.put(SET, KEY, JSON.stringify(next), { version })) !== undefined) return done;
      }
      throw new GatewayError('STATE_FAILED', {});
    },
  };
}

/** False if there is no such browser. */
export function removeBrowser(store: PairingStore, isMeant: (browser: PairedBrowser) => boolean): Promise<boolean> {
  return store.update((latest) => {
    const browsers = latest.browsers.filter((one) => !isMeant(one));
    const isThere = browsers.length < latest.browsers.length;
    return { next: isThere ? { ...latest, browsers } : undefined, done: isThere };
  });
}

/** Nothing if there is no file. Throws if it cannot be understood, so that it is never overwritten. */
function readPairingFile(path: string): PairingRecords {
  const text = readIfThere(path);
  if (text === undefined) return NOTHING;
  const { browsers, invitations, paths } = JSON.parse(text) as Partial<Record<keyof PairingRecords, unknown>>;
  if (!isList(browsers, 'name') || !isList(invitations, 'expires')) {
    throw new GatewayError('BAD_OPTION', { option: 'stateFolder', reason: `${path} is not a file of \`parley pair\`` });
  }
  return { browsers, invitations, ...(isObject(paths) && { paths }) } as unknown as PairingRecords;
}

function isList(value: unknown, field: string): value is object[] {
  const isKept = (one: unknown): boolean =>
    isObject(one) && typeof one.hash === 'string' && typeof one.gateway === 'string' && field in one;
  return Array.isArray(value) && value.every(isKept);
}
