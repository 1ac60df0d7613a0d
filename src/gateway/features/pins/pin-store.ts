// Where the pins of one server are remembered: in a file, or in the state that gateways share, so that they have one baseline.
// 1. Each change is made from what is there at that moment. A baseline is taken once, by the gateway that is first.
// 2. If the file cannot be used, pins last as long as the process. While the state does not answer, nothing new is pinned or shown.
// 3. What a state has lost is written again by the gateways that still know it.
import { MAX_PIN_FILE_BYTES } from '../../../kernel/base/limits.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { fileStamp } from '../../../kernel/files/file-stamp.ts';
import type { State } from '../../../kernel/state/state.ts';
import { readPinFile, updatePinFile, withoutValues } from './pin-record.ts';
import { toPinRecord } from './read-pins.ts';
import type { PinRecord } from './pin.ts';

export type ChangePins = (latest: PinRecord | undefined) => PinRecord;

export interface PinStore {
  /** For the log. */
  readonly place: string;
  /** Whether a failure ends by itself. Otherwise it is used no more. */
  readonly isTransient: boolean;
  /** Looks whether somebody else has changed them, if that takes time. */
  load(): Promise<void> | undefined;
  /** What somebody else has made of them since the last call. */
  changed(): PinRecord | undefined;
  update(change: ChangePins): Promise<PinRecord>;
  /** Calls back after a change; undefined: look from time to time. */
  watch?(changed: () => void): () => void;
}

const SET = 'pins';
const MAX_TRIES = 20;

export function pinsInFile(path: string): PinStore {
  let version = '';
  return {
    place: path,
    isTransient: false,
    load: () => undefined,
    changed() {
      const now = fileStamp(path);
      if (now === version) return undefined;
      version = now;
      return readPinFile(path);
    },
    async update(change) {
      const next = await updatePinFile(path, change);
      version = fileStamp(path);
      return next;
    },
  };
}

export function pinsInState(state: State, server: string): PinStore {
  return new StatePins(state, server);
}

/** All that gateways with one state have pinned. */
export async function listPinsInState(state: State): Promise<{ record: PinRecord; store: PinStore }[]> {
  const rows = [...(await state.list(SET))];
  return rows.map(([server, { value }]) => ({ record: toRecord(value), store: pinsInState(state, server) }));
}

class StatePins implements PinStore {
  readonly place = 'state';
  readonly isTransient = true;
  readonly #state: State;
  readonly #server: string;
  #latest: PinRecord | undefined;
  #version = 0;
  #isStale = true;
  #isNews = false;

  constructor(state: State, server: string) {
    this.#state = state;
    this.#server = server;
  }

  load(): Promise<void> | undefined {
    if (!this.#isStale) return undefined;
    return this.#load().catch((error: unknown) => {
      if (!this.#latest) throw error; // what was seen before still counts, and the next list looks again
    });
  }

  changed(): PinRecord | undefined {
    if (!this.#isNews) return undefined;
    this.#isNews = false;
    return this.#latest;
  }

  async update(change: ChangePins): Promise<PinRecord> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await this.#load();
      const next = change(this.#latest && structuredClone(this.#latest));
      const version = await this.#put(next, this.#version);
      if (version === undefined) continue;
      this.#latest = next;
      this.#version = version;
      this.#isNews = false;
      return next;
    }
    throw new GatewayError('STATE_FAILED', {});
  }

  watch(changed: () => void): () => void {
    return this.#state.watch(SET, () => {
      this.#isStale = true;
      this.#load().then(changed, () => {}); // the next list looks again
    });
  }

  async #load(): Promise<void> {
    this.#isStale = false;
    try {
      const entry = await this.#state.get(SET, this.#server);
      if (!entry) return await this.#restore();
      if (entry.version === this.#version) return;
      this.#latest = toRecord(entry.value);
      this.#version = entry.version;
      this.#isNews = true;
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  /** It was lost, or was never there. */
  async #restore(): Promise<void> {
    this.#version = 0;
    if (!this.#latest) return;
    const version = await this.#put(this.#latest, 0);
    if (version === undefined) this.#isStale = true;
    this.#version = version ?? 0;
  }

  #put(record: PinRecord, version: number): Promise<number | undefined> {
    const text = JSON.stringify(record);
    const value = text.length <= MAX_PIN_FILE_BYTES ? text : JSON.stringify(withoutValues(record));
    return this.#state.put(SET, this.#server, value, { version });
  }
}

function toRecord(value: string): PinRecord {
  const record = toPinRecord(JSON.parse(value));
  if (record) return record;
  throw new GatewayError('STATE_FAILED', {});
}
