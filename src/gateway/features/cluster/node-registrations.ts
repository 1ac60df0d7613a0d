// Which nodes there are. Each writes itself into the state every two seconds, sealed, so that who writes the state redirects nobody; a node whose row
// has expired has ended, or is taken for it.
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { toReadable } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { isObject } from '../../../kernel/message.ts';
import type { NodeReport } from '../../../kernel/nodes/nodes.ts';
import type { State } from '../../../kernel/state/state.ts';
import { differences, readFacts, toReport } from './node-facts.ts';
import type { NodeFacts } from './node-facts.ts';
import { StateLosses } from './state-losses.ts';

export interface NodeAddress {
  readonly url: string;
  /** It finishes its last calls, and takes no new sessions. */
  readonly isDraining: boolean;
  /** Its clock minus ours, in milliseconds: at most by the time between two looks too small. */
  readonly clockAhead: number;
  readonly facts: NodeFacts;
}

/** What finds nodes, in a state or in a list. */
export interface NodeDirectory {
  readonly ready: Promise<unknown>;
  find(node: string): NodeAddress | undefined;
  /** Looks again, now. */
  look(node: string): Promise<NodeAddress | undefined>;
  /** Nobody listens at its port: it has ended, which need not be waited for. Should it live, it finds its row gone, and compares what it has. */
  bury(node: string): Promise<void>;
  /** Whether a node that is not found has ended. Not while the state may have lost its row. */
  isSettled(): Promise<boolean>;
  readonly size: number;
  /** All nodes, this one first. */
  report(): NodeReport[];
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface RegistrationParts {
  self: string;
  /** Where other nodes reach this one. */
  url: string;
  /** Of this node, at the moment. */
  facts: () => NodeFacts;
  state: State;
  clock: Clock;
  log: Log;
  /** This node may have been taken for dead, and is back, or what it has written is lost. */
  onReturn: () => void;
  /** Another node has ended, or does not say any more that it is there. */
  onGone: (node: string) => void;
}

const SET = 'nodes';
const EVERY_MS = 2000;
const LIFE_MS = 6000;
/** Less than the life of a row, by what a command takes. */
const DOUBT_MS = 4000;
/** Since a renewal: the state may have been away for so long that rows of others have expired. */
const LATE_MS = 3500;

export class NodeRegistrations implements NodeDirectory {
  readonly ready: Promise<unknown>;
  readonly #parts: RegistrationParts;
  readonly #losses: StateLosses;
  #nodes = new Map<string, NodeAddress & { version: number }>();
  /** In which keys nodes were said to differ. */
  readonly #warned = new Map<string, string>();
  #version = 0;
  #renewedAt: number;
  #isDraining = false;
  #isClosed = false;
  #stop: () => void = () => {};

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#losses = new StateLosses(parts);
    this.#renewedAt = ticksOf(parts.clock);
    this.ready = this.#renew().then(() => this.#schedule());
    this.ready.catch(() => {}); // who waits for it gets the reason
  }

  get size(): number {
    return this.#nodes.size;
  }

  report(): NodeReport[] {
    const { self, url, facts } = this.#parts;
    const own = facts();
    const here = { name: self, url, isDraining: this.#isDraining, clockAhead: 0, facts: own };
    const others = [...this.#nodes].map(([name, node]) => ({ name, ...node }));
    return [here, ...others.sort((a, b) => (a.url < b.url ? -1 : 1))].map((node) => toReport(node, own));
  }

  find(node: string): NodeAddress | undefined {
    return this.#nodes.get(node);
  }

  async look(node: string): Promise<NodeAddress | undefined> {
    const entry = await this.#parts.state.get(SET, node);
    if (entry) this.#learn(node, entry);
    else if (await this.isSettled()) this.#forget(node);
    return this.#nodes.get(node);
  }

  async bury(node: string): Promise<void> {
    const entry = await this.#parts.state.get(SET, node);
    if (!entry || (await this.#parts.state.remove(SET, node, { version: entry.version }))) this.#forget(node);
  }

  async isSettled(): Promise<boolean> {
    if (this.#sinceRenewal > LATE_MS || !this.#losses.isSettled) return false;
    if (await this.#losses.look()) this.#parts.onReturn();
    return this.#losses.isSettled;
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#tick();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#parts.state.remove(SET, this.#parts.self).catch(() => false);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#stop = this.#parts.clock.after(EVERY_MS, () => void this.#tick().finally(() => this.#schedule()));
  }

  async #tick(): Promise<void> {
    try {
      await this.#renew();
    } catch (error) {
      this.#parts.log.warn({ error: toReadable(error) }, 'cluster.not-registered');
    }
  }

  async #renew(): Promise<void> {
    const { state, self, url, facts, clock, onReturn } = this.#parts;
    const text = JSON.stringify({ v: 1, url, now: clock.now(), draining: this.#isDraining, ...facts() });
    const put = (): Promise<number | undefined> =>
      state.put(SET, self, text, { version: this.#version, ttlMs: LIFE_MS });
    let version = await put();
    const sinceRenewal = this.#sinceRenewal;
    let isBehind = false;
    if (version === undefined) {
      const found = (await state.get(SET, self))?.version ?? 0;
      // Without a pause, our row can neither have expired nor be an earlier one.
      isBehind = found < this.#version && (found > 0 || sinceRenewal <= LATE_MS);
      this.#version = found;
      version = await put();
    }
    if (version !== undefined) this.#version = version;
    this.#renewedAt = ticksOf(clock);
    const isLost = await this.#losses.look(isBehind);
    if (sinceRenewal > LATE_MS) this.#losses.disturb();
    if (isLost || sinceRenewal > DOUBT_MS) onReturn();
    await this.#readAll();
  }

  get #sinceRenewal(): number {
    return ticksOf(this.#parts.clock) - this.#renewedAt;
  }

  async #readAll(): Promise<void> {
    const rows = await this.#parts.state.list(SET);
    if (this.#losses.isSettled) for (const name of this.#nodes.keys()) if (!rows.has(name)) this.#forget(name);
    for (const [name, entry] of rows) if (name !== this.#parts.self) this.#learn(name, entry);
  }

  #forget(name: string): void {
    this.#warned.delete(name);
    if (this.#nodes.delete(name)) this.#parts.onGone(name);
  }

  #learn(name: string, { value, version }: { value: string; version: number }): void {
    if (this.#nodes.get(name)?.version === version) return;
    const row: unknown = JSON.parse(value);
    if (!isObject(row) || typeof row.url !== 'string' || typeof row.now !== 'number') return;
    const clockAhead = row.now - this.#parts.clock.now();
    const facts = readFacts(row);
    this.#warn(name, row.url, facts);
    this.#nodes.set(name, { url: row.url, isDraining: row.draining === true, clockAhead, facts, version });
  }

  /** Once for each difference. */
  #warn(node: string, url: string, facts: NodeFacts): void {
    const keys = differences(facts, this.#parts.facts());
    const known = this.#warned.get(node);
    if (known === keys.join()) return;
    if (keys.length > 0) this.#warned.set(node, keys.join());
    else this.#warned.delete(node);
    if (keys.length > 0) this.#parts.log.warn({ node, url, keys }, 'cluster.differs');
  }
}

/** Nodes that are listed in the options: all of them, always. */
export class ListedNodes implements NodeDirectory {
  readonly ready = Promise.resolve();
  readonly #nodes: Map<string, NodeAddress>;
  readonly #self: NodeAddress & { name: string };
  readonly #facts: () => NodeFacts;

  constructor(nodes: Record<string, string>, self: string, facts: () => NodeFacts) {
    const listed = (url: string): NodeAddress => ({ url, isDraining: false, clockAhead: 0, facts: {} });
    const others = Object.entries(nodes).filter(([name]) => name !== self);
    this.#nodes = new Map(others.map(([name, url]) => [name, listed(url)]));
    this.#self = { name: self, ...listed(nodes[self]!) };
    this.#facts = facts;
  }

  /** Of the others, no more than what the list says. */
  report(): NodeReport[] {
    const own = this.#facts();
    const others = [...this.#nodes].map(([name, node]) => ({ name, ...node }));
    return [{ ...this.#self, facts: own }, ...others].map((node) => toReport(node, own));
  }

  get size(): number {
    return this.#nodes.size;
  }

  find(node: string): NodeAddress | undefined {
    return this.#nodes.get(node);
  }

  look(node: string): Promise<NodeAddress | undefined> {
    return Promise.resolve(this.find(node));
  }

  /** It is waited for: it has its sessions on its disk. */
  bury(): Promise<void> {
    return Promise.resolve();
  }

  isSettled(): Promise<boolean> {
    return Promise.resolve(true);
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
