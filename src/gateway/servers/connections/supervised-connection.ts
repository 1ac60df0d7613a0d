// A connection to a server that opens on demand and again after a loss. While a server keeps failing, callers get the last reason
// at once, and attempts become rarer. A server that is lost after serving calls is restarted at once; one that is lost repeatedly
// before serving any counts as failing.
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError, toError } from '../../../kernel/base/errors.ts';
import { arrivedVia, isLoop, writeVia } from '../../../kernel/base/via.ts';
import { unlessLate } from '../../../kernel/base/timing.ts';
import type { ConnectedServer } from '../../../mcp/connect/connected-server.ts';
import { Backoff } from '../../../mcp/connect/backoff.ts';

export interface SupervisedConnectionOptions {
  clock: Clock;
  /** Opens a connection; `onClose` reports its end. Aborting ends everything that was started for it. */
  open(onClose: (reason: string) => void, signal: AbortSignal): Promise<ConnectedServer>;
  /** How long any connection may be unused before it is closed. Default: replaceable ones for `lingerMs`, others for good. */
  idleMs?: number | undefined;
  /** Whether a client relies on the connection although it makes no call. */
  isKept?(): boolean;
  /** Throws if the connection must not be opened now; a returned promise delays the opening. */
  admit?(): Promise<void> | undefined;
  /** `closed` is fulfilled when the process or socket has ended. */
  onClosing?(closed: Promise<void>): void;
  onOpen?(connected: ConnectedServer): void;
  onLost?(reason: string): void;
  /** Called when an opening fails. */
  onFailed?(error: Error): void;
  /** Called when the connection is closed because it was unused. */
  onIdle?(): void;
  /** Called when a worn-out connection is closed; the next use opens a new one. */
  onReplaced?(): void;
  /**
   * How long a replaceable connection may be unused, and how long a worn-out server may continue an abandoned call: it may be in the
   * middle of a change.
   */
  lingerMs?: number | undefined;
  /** Whether the server works on something without a waiting caller, and must not be closed yet. */
  isAtWork?(connected: ConnectedServer): boolean;
}

/** How long a caller waits for a new attempt after a failure. */
const RETRY_WAIT_MS = 5000;
/** How often a caller opens the connection again after an opening for another request was refused as a loop. */
const MAX_OPENINGS = 3;

export class SupervisedConnection {
  readonly #options: SupervisedConnectionOptions;
  readonly #backoff = new Backoff();
  #opening: Promise<ConnectedServer> | undefined;
  /** The gateways passed by the request that caused the current opening. */
  #openedBy = '';
  #current: ConnectedServer | undefined;
  #failure: Error | undefined;
  /** When that was, by the clock that only moves on. */
  failedAt = 0;
  #retryAt = 0;
  /** Losses in a row without a served call. */
  #losses = 0;
  /** It was lost, or could not be opened, and has not served a call since. */
  #isDoubted = false;
  #users = 0;
  #waiting = 0;
  #isRetired = false;
  /** Whether a new connection would do as well, so that this one may be closed while it is unused. */
  isReplaceable = true;
  #stopIdle: () => void = () => {};
  readonly #closing = new AbortController();
  readonly #onClosed: (() => void)[] = [];
  #isWorn = false;
  /** The replaced server that still lingers; at most one beside the current one. */
  #worn: { connected: ConnectedServer; stop: () => void } | undefined;

  constructor(options: SupervisedConnectionOptions) {
    this.#options = options;
  }

  get current(): ConnectedServer | undefined {
    return this.#current;
  }

  /** Whether it is open or opening. */
  get isLive(): boolean {
    return this.#current !== undefined || this.#opening !== undefined;
  }

  /** Whether a replaced server still finishes its work. */
  get isLingering(): boolean {
    return this.#worn !== undefined;
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** When closed, only a call that was already under way can still open it. */
  get isClosed(): boolean {
    return this.#isRetired || this.#closing.signal.aborted;
  }

  get #isUnused(): boolean {
    return this.#users === 0 && this.#waiting === 0;
  }

  /** The reason of the last failed attempt, until one succeeds. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get state(): 'idle' | 'starting' | 'ready' | 'failing' {
    if (this.#current) return 'ready';
    if (this.#opening) return 'starting';
    return this.#failure ? 'failing' : 'idle';
  }

  /** What made it fail was put right: the next use tries at once. */
  retryNow(): void {
    this.#failure = undefined;
    this.#retryAt = 0;
    this.#backoff.reset();
  }

  /** A worn-out connection is closed as soon as it is unused; the next use opens a new one. */
  set isWorn(isWorn: boolean) {
    this.#isWorn = isWorn;
    if (isWorn && this.#isUnused) this.#replace();
  }

  /** Keeps the connection open while `work` runs. */
  async use<T>(work: (connected: ConnectedServer) => Promise<T>): Promise<T> {
    this.take();
    try {
      return await work(await this.get());
    } finally {
      this.giveBack();
    }
  }

  /** Counts a user; the connection is not idle until each of them has called `giveBack`. */
  take(): void {
    this.#users++;
    this.#stopIdle();
  }

  giveBack(): void {
    if (this.#isDoubted && this.#current?.hasServed) this.#trust();
    this.#users--;
    if (this.#isUnused) this.#unused();
  }

  async get(): Promise<ConnectedServer> {
    for (let attempt = 1; ; attempt++) {
      const via = writeVia(arrivedVia());
      const openedBy = this.#opening ? this.#openedBy : via;
      try {
        return await this.#get();
      } catch (thrown) {
        // The opening failed for a request that goes round in a loop, which says nothing about this one.
        if (!isLoop(thrown) || openedBy === via || attempt === MAX_OPENINGS) throw thrown;
      }
    }
  }

  async #get(): Promise<ConnectedServer> {
    if (this.#current) return this.#current;
    if (this.#closing.signal.aborted) throw closingError();
    if (this.#failure && ticksOf(this.#options.clock) < this.#retryAt) throw this.#failure;
    if (!this.#opening) {
      const admitted = this.#options.admit?.();
      this.#openedBy = writeVia(arrivedVia());
      this.#opening = this.#open(admitted).finally(() => (this.#opening = undefined));
    }
    this.#waiting++;
    try {
      return await (this.#failure ? this.#unlessLong(this.#opening, this.#failure) : this.#opening);
    } finally {
      this.#waiting--;
      if (this.#isRetired && this.#isUnused) this.#unused();
    }
  }

  /**
   * Closes the connection when its last user leaves. A call that was under way elsewhere may open it once more, so that it does
   * not fail because the configuration has changed. Resolves when the connection is first closed.
   */
  async retire(): Promise<void> {
    this.#isRetired = true;
    const closed = new Promise<void>((resolve) => this.#onClosed.push(resolve));
    if (this.#isUnused) this.#unused();
    await closed;
  }

  /** Aborts an opening that is under way, and rejects its waiters. */
  async close(): Promise<void> {
    this.#closing.abort(closingError());
    this.#stopIdle();
    await this.#opening?.catch(() => {}); // reported to its waiters
    await Promise.all([this.closeWorn(), this.#end(this.#current)]);
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }

  async #open(admitted: Promise<void> | undefined): Promise<ConnectedServer> {
    try {
      if (admitted) await admitted;
      if (this.#closing.signal.aborted) throw closingError();
      let connected: ConnectedServer | undefined;
      connected = await this.#options.open((reason) => this.#lost(connected, reason), this.#closing.signal);
      if (this.#closing.signal.aborted) await this.#end(connected);
      if (this.#closing.signal.aborted) throw closingError();
      this.#failure = undefined;
      this.#current = connected;
      this.#options.onOpen?.(connected);
      if (this.#isRetired && this.#isUnused) this.#unused(); // its opener has given up meanwhile
      else if (this.#users === 0) this.#watchIdle();
      return connected;
    } catch (thrown) {
      if (this.#closing.signal.aborted) throw closingError();
      if (isLoop(thrown) && arrivedVia().length > 0) throw thrown;
      this.#failed(toError(thrown));
      this.#options.onFailed?.(this.#failure!);
      throw this.#failure!;
    }
  }

  #lost(connected: ConnectedServer | undefined, reason: string): void {
    if (connected !== undefined && connected !== this.#current) return;
    this.#current = undefined;
    this.#isWorn = false;
    this.#stopIdle();
    if (this.isClosed || !connected) return; // the opener of a connection that never came up gets the error
    this.#options.onClosing?.(connected.drop()); // its process may still be ending
    this.#judge(reason);
    this.#options.onLost?.(reason);
  }

  #judge(reason: string): void {
    this.#isDoubted = true;
    if (++this.#losses < 2) return;
    this.#failed(new GatewayError('UPSTREAM_CLOSED', { server: 'the server', reason }));
  }

  /** Rejects with the last failure if the opening takes long; the attempt continues. */
  async #unlessLong(opening: Promise<ConnectedServer>, failure: Error): Promise<ConnectedServer> {
    const connected = await unlessLate(opening, this.#options.clock, RETRY_WAIT_MS);
    if (!connected) throw failure;
    return connected;
  }

  #trust(): void {
    this.#isDoubted = false;
    this.#losses = 0;
    this.#backoff.reset();
  }

  #failed(error: Error): void {
    this.#isDoubted = true;
    this.#failure = error;
    this.failedAt = ticksOf(this.#options.clock);
    this.#retryAt = ticksOf(this.#options.clock) + this.#backoff.nextMs();
  }

  #unused(): void {
    // Not at once: a waiter takes the connection in this same tick.
    if (this.#isRetired) setImmediate(() => void this.#closeRetired());
    else if (this.#isWorn) this.#replace();
    if (!this.#isRetired && this.#current) this.#watchIdle();
  }

  #replace(): void {
    const connected = this.#current;
    if (!connected || this.#options.isAtWork?.(connected)) return;
    this.#current = undefined;
    this.#isWorn = false;
    this.#stopIdle();
    this.#options.onReplaced?.();
    void this.closeWorn();
    connected.mute();
    const { clock, lingerMs = 60_000 } = this.#options;
    const stop = clock.after(lingerMs, () => {
      void this.closeWorn();
      if (this.state === 'idle' && this.#isUnused) this.#options.onIdle?.();
    });
    this.#worn = { connected, stop };
  }

  /** Ends the replaced server, whatever it is doing. */
  async closeWorn(): Promise<void> {
    const worn = this.#worn;
    this.#worn = undefined;
    worn?.stop();
    await this.#end(worn?.connected);
  }

  async #closeRetired(): Promise<void> {
    if (!this.#isUnused) return;
    const connected = this.#current;
    this.#current = undefined;
    this.#stopIdle();
    await Promise.all([this.closeWorn(), this.#end(connected)]);
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }

  /** The time runs from the last moment at which it was used or kept. */
  #watchIdle(): void {
    const { idleMs = this.isReplaceable ? this.#options.lingerMs : undefined } = this.#options;
    if (idleMs !== undefined) this.#checkIdle(idleMs, ticksOf(this.#options.clock));
  }

  #checkIdle(idleMs: number, lastUsed: number): void {
    const { clock } = this.#options;
    this.#stopIdle();
    this.#stopIdle = clock.after(Math.max(1, Math.min(idleMs / 4, lastUsed + idleMs - ticksOf(clock))), () => {
      const used = this.#options.isKept?.() ? ticksOf(clock) : lastUsed;
      if (!this.#current) return;
      if (ticksOf(clock) - used < idleMs) this.#checkIdle(idleMs, used);
      else this.rest();
    });
  }

  async #end(connected: ConnectedServer | undefined): Promise<void> {
    const closed = connected?.close();
    if (closed) this.#options.onClosing?.(closed);
    await closed;
  }

  rest(): void {
    const connected = this.#current;
    this.#current = undefined;
    this.#stopIdle();
    this.#options.onIdle?.();
    void this.closeWorn();
    void this.#end(connected);
  }
}

function closingError(): GatewayError {
  return new GatewayError('UPSTREAM_CLOSED', { server: 'the server', reason: 'Parley is closing' });
}
