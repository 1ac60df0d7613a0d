// The sessions of gateways that share a state. A row says which node has the session, and each change gives it a higher version: that is the fence.
// 1. A node takes a session over only in the version that it has read, after the node in it has ended. Of several, one succeeds.
// 2. A node that may have been taken for dead, because it was paused or cut off, compares versions before it uses its sessions again.
// 3. While the state fails, live sessions go on, and what should have been written is written later. Nobody can take over meanwhile.
// 4. After the state has lost rows, each node writes those of its sessions again; until then, a row that is missing says nothing.
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { toReadable } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { isObject } from '../../../kernel/message.ts';
import type { Nodes } from '../../../kernel/nodes/nodes.ts';
import type { State, StateEntry } from '../../../kernel/state/state.ts';
import type { SettingChange } from '../../eras/serve/conversation.ts';
import { applySetting, isKept } from './session-store.ts';
import type { HttpSessionStore, SessionRecord, TakenSession } from './session-store.ts';

interface SharedSessionsParts {
  state: State;
  nodes: Nodes;
  /** How long a session may be idle. */
  idleMs: number;
  clock: Clock;
  log: Log;
}

/** A session of ours. */
interface OwnSession {
  readonly record: SessionRecord;
  /** Of the row; 0 before it is written. */
  version: number;
  /** What the row does not say yet. */
  isStale: boolean;
  writtenAt: number;
  /** Until when nobody else was taken for its owner, by the count of `#doubts`. */
  sureOf: number;
  /** Writes and the end come one after the other. */
  last: Promise<void>;
}

interface Row {
  v: number;
  owner: string;
  binding: string;
  opening: SessionRecord['opening'];
  level?: SessionRecord['level'];
  subscriptions: string[];
}

const SET = 'sessions';
/** What a later release writes differently gets a higher number. */
const FORMAT = 1;
/** A row of a session that has ended: of nobody, for nobody, and for earlier versions, too. */
const ENDED = JSON.stringify({ v: FORMAT + 1, owner: '' });
const TICK_MS = 2000;
/** Less than after which a node is taken for dead. */
const DOUBT_MS = 4000;
const BATCH = 100;

export class SharedSessions implements HttpSessionStore {
  readonly isShared = true;
  readonly #parts: SharedSessionsParts;
  readonly #own = new Map<string, OwnSession>();
  /** Ended here, and perhaps still in the state. */
  readonly #ended = new Set<string>();
  #lost: (id: string) => void = () => {};
  #tickedAt: number;
  /** How often this node may have been taken for dead. */
  #doubts = 0;
  /** Since then, some sessions have not been compared. */
  #isComparing = false;
  #catchingUp: Promise<void> = Promise.resolve();
  #stop: () => void;

  constructor(parts: SharedSessionsParts) {
    this.#parts = parts;
    this.#tickedAt = ticksOf(parts.clock);
    this.#stop = this.#schedule();
    parts.nodes.onReturn(() => {
      this.#doubt();
      this.#startCatchUp();
    });
  }

  name(): string {
    return randomId() + this.#parts.nodes.mark;
  }

  get isSure(): boolean {
    return !this.#isComparing && ticksOf(this.#parts.clock) - this.#tickedAt < DOUBT_MS;
  }

  async begin(id: string, record: SessionRecord): Promise<void> {
    if (!isKept(record)) return this.#parts.log.info({}, 'session.not-kept');
    await this.#write(id, this.#add(id, record, 0));
  }

  change(id: string, change: SettingChange): void {
    const own = this.#own.get(id);
    if (own && applySetting(own.record, change)) void this.#write(id, own);
  }

  async end(id: string): Promise<void> {
    const own = this.#own.get(id);
    if (own) {
      this.#own.delete(id);
      this.#ended.add(id);
      await own.last;
    }
    if (this.#ended.has(id)) await this.#erase(id);
  }

  async isOurs(id: string): Promise<boolean> {
    const own = this.#own.get(id);
    if (!own || own.version === 0) return true; // it is kept nowhere, so nobody can have it
    if (own.sureOf === this.#doubts && ticksOf(this.#parts.clock) - this.#tickedAt < DOUBT_MS) return true;
    try {
      const entry = await this.#parts.state.get(SET, id);
      if (this.#own.get(id) !== own) return false;
      return this.#compare(id, own, entry);
    } catch {
      return true; // nobody else can read it, either
    }
  }

  async takeOver(id: string, binding: string): Promise<TakenSession> {
    const { state, nodes, idleMs } = this.#parts;
    for (;;) {
      if (this.#ended.has(id)) return undefined;
      const entry = await state.get(SET, id);
      if (!entry) return (await nodes.isSettled()) ? undefined : { isUnsettled: true };
      const row = readRow(entry.value);
      if (row?.binding !== binding) return undefined;
      if (row.v > FORMAT) return row.owner === '' ? undefined : { owner: row.owner };
      if (row.owner !== '' && row.owner !== nodes.self && (await nodes.isAlive(row.owner))) return { owner: row.owner };
      const own = this.#own.get(id);
      if (own && row.owner === nodes.self) return own.record;
      const record = toRecord(row);
      const version = await state.put(SET, id, this.#toText(record), { version: entry.version, ttlMs: idleMs });
      if (version === undefined) continue; // another one was faster
      this.#add(id, record, version);
      this.#parts.log.info({ from: row.owner }, 'session.taken-over');
      return record;
    }
  }

  async release(ids: Iterable<string>): Promise<void> {
    await Promise.all(
      [...ids].map(async (id) => {
        const own = this.#own.get(id);
        if (!own) return;
        this.#own.delete(id);
        await own.last;
        if (own.version > 0) await this.#put(id, own, '').catch(() => undefined);
      }),
    );
  }

  onLost(lost: (id: string) => void): void {
    this.#lost = lost;
  }

  close(): void {
    this.#stop();
  }

  #add(id: string, record: SessionRecord, version: number): OwnSession {
    const [writtenAt, sureOf] = [ticksOf(this.#parts.clock), this.#doubts];
    const own: OwnSession = { record, version, isStale: version === 0, writtenAt, sureOf, last: Promise.resolve() };
    this.#own.set(id, own);
    return own;
  }

  /** Never rejects: what cannot be written is written later. */
  #write(id: string, own: OwnSession): Promise<void> {
    own.isStale = true;
    return (own.last = own.last.then(() => this.#writeNow(id, own)));
  }

  async #writeNow(id: string, own: OwnSession): Promise<void> {
    if (!own.isStale || this.#own.get(id) !== own) return;
    own.isStale = false;
    try {
      const version = await this.#put(id, own, this.#parts.nodes.self);
      if (version !== undefined) own.version = version;
      else if (this.#own.get(id) === own) await this.#settle(id, own);
    } catch {
      own.isStale = true; // the state has logged why
    }
  }

  async #put(id: string, own: OwnSession, owner: string): Promise<number | undefined> {
    const { state, idleMs } = this.#parts;
    own.writtenAt = ticksOf(this.#parts.clock);
    return state.put(SET, id, this.#toText(own.record, owner), { version: own.version, ttlMs: idleMs });
  }

  /** The row is not the one that was written last. */
  async #settle(id: string, own: OwnSession): Promise<void> {
    const entry = await this.#parts.state.get(SET, id);
    if (!this.#compare(id, own, entry)) return;
    own.version = entry?.version ?? 0;
    own.isStale = true; // the next tick writes it
  }

  /** Whether the session is still ours. One whose row is gone, or was there before ours, was lost by the state, and is written again. */
  #compare(id: string, own: OwnSession, entry: StateEntry | undefined): boolean {
    const isLost = !entry || entry.version < own.version;
    const isOurs = isLost || readRow(entry.value)?.owner === this.#parts.nodes.self;
    if (isOurs) own.sureOf = this.#doubts;
    else {
      this.#own.delete(id);
      this.#lost(id);
      this.#parts.log.warn({}, 'session.lost');
    }
    if (isLost) [own.version, own.isStale] = [entry?.version ?? 0, true];
    return isOurs;
  }

  /** A node that was cut off meanwhile has the session, too, and takes a row that is missing for one that the state has lost. So one that says that it has ended stays. */
  async #erase(id: string): Promise<void> {
    const { state, idleMs } = this.#parts;
    for (;;) {
      const version = (await state.get(SET, id))?.version ?? 0;
      if ((await state.put(SET, id, ENDED, { version, ttlMs: idleMs })) !== undefined) break;
    }
    this.#ended.delete(id);
  }

  #doubt(): void {
    this.#doubts++;
    this.#isComparing = this.#own.size > 0;
  }

  #schedule(): () => void {
    return this.#parts.clock.after(TICK_MS, () => {
      if (ticksOf(this.#parts.clock) - this.#tickedAt >= DOUBT_MS) this.#doubt();
      this.#tickedAt = ticksOf(this.#parts.clock);
      this.#stop = this.#schedule();
      this.#startCatchUp();
    });
  }

  #startCatchUp(): void {
    const { log } = this.#parts;
    const done = this.#catchingUp.then(() => this.#catchUp());
    this.#catchingUp = done.catch((error: unknown) => log.warn({ error: toReadable(error) }, 'sessions.late'));
  }

  /** Compares, writes what is late or would expire, and removes what has ended. */
  async #catchUp(): Promise<void> {
    const now = ticksOf(this.#parts.clock);
    const isDue = (own: OwnSession): boolean => own.isStale || own.writtenAt < now - this.#parts.idleMs / 4;
    if (this.#isComparing) await this.#compareAll();
    const due = [...this.#own].filter(([, own]) => isDue(own));
    for (let at = 0; at < due.length; at += BATCH) {
      const batch = due.slice(at, at + BATCH);
      await Promise.all(batch.map(([id, own]) => this.#write(id, own)));
      if (batch.every(([, own]) => own.isStale)) break; // the state is away
    }
    for (const id of [...this.#ended].slice(0, BATCH)) await this.#erase(id);
  }

  async #compareAll(): Promise<void> {
    const isDoubted = ([, { sureOf, version }]: [string, OwnSession]): boolean =>
      version > 0 && sureOf !== this.#doubts;
    const doubted = [...this.#own].filter(isDoubted);
    for (let at = 0; at < doubted.length; at += BATCH)
      await Promise.all(doubted.slice(at, at + BATCH).map(([id]) => this.isOurs(id)));
    this.#isComparing = [...this.#own].some(isDoubted);
  }

  #toText({ binding, opening, level, subscriptions }: SessionRecord, owner = this.#parts.nodes.self): string {
    const row: Row = { v: FORMAT, owner, binding, opening, level, subscriptions: [...subscriptions] };
    return JSON.stringify(row);
  }
}

function readRow(text: string): Row | undefined {
  const row: unknown = JSON.parse(text);
  return isObject(row) && typeof row.owner === 'string' ? (row as unknown as Row) : undefined;
}

function toRecord({ binding, opening, level, subscriptions }: Row): SessionRecord {
  return { binding, opening, level, subscriptions: new Set(subscriptions) };
}
