// One connection to a server, opened when it is needed and again when it was lost. While a server keeps failing, a caller
// gets the reason at once instead of waiting for the next failure, and the pause between attempts grows. A server that was
// up and is lost is started again at once, but one that is lost repeatedly without having served a call is failing, too.
import { ticksOf } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { toError } from '../../../shared/to-error.ts';
import { arrivedVia, isLoop, writeVia } from '../../../shared/via.ts';
import { Backoff } from './backoff.ts';
import type { Upstream } from '../upstream.ts';

export interface SupervisedConnectionOptions {
  clock: Clock;
  /** Opens a connection and says when it is gone. Aborting gives it up, with all that was started for it. */
  open(onClose: (reason: string) => void, signal: AbortSignal): Promise<Upstream>;
  /** How long a connection may be unused before it is closed; undefined keeps it. Asked each time it is no longer used. */
  idleMs?(): number | undefined;
  /** Somebody relies on the connection though nobody calls: it is not idle. */
  isKept?(): boolean;
  /** Throws where the connection must not be opened now. A promise is waited for before it is. */
  admit?(): Promise<void> | undefined;
  /** It is being closed; `closed` is fulfilled when nothing of it is left. */
  onClosing?(closed: Promise<void>): void;
  onOpen?(upstream: Upstream): void;
  onLost?(reason: string): void;
  /** It could not be opened. */
  onFailed?(error: Error): void;
  /** It is closed because nobody uses it. */
  onIdle?(): void;
  /** It was closed because it was worn out; the next use opens another one. */
  onReplaced?(): void;
  /** How long a worn-out server may go on with a call that nobody waits for: it may be in the middle of something. */
  lingerMs?: number | undefined;
  /** The server does something for which nobody waits just now: it must not be closed yet. */
  isAtWork?(upstream: Upstream): boolean;
}

/** How long a caller waits for another attempt with a server that failed before. */
const RETRY_WAIT_MS = 5000;
/** How often a caller opens it again after it was refused to others. */
const MAX_OPENINGS = 3;

export class SupervisedConnection {
  readonly #options: SupervisedConnectionOptions;
  readonly #backoff = new Backoff();
  #opening: Promise<Upstream> | undefined;
  /** The gateways that the request has passed for which it is opened. */
  #openedBy = '';
  #current: Upstream | undefined;
  #failure: Error | undefined;
  #retryAt = 0;
  /** How often in a row it was lost before anybody was served. */
  #losses = 0;
  #users = 0;
  /** Callers that wait for the connection to open. */
  #waiting = 0;
  #isRetired = false;
  #stopIdle: () => void = () => {};
  readonly #closing = new AbortController();
  readonly #onClosed: (() => void)[] = [];
  #isWorn = false;
  /** The last one that was worn out; there is never more than one beside the current. */
  #worn: { upstream: Upstream; stop: () => void } | undefined;

  constructor(options: SupervisedConnectionOptions) {
    this.#options = options;
  }

  get current(): Upstream | undefined {
    return this.#current;
  }

  /** It is open, or about to be. */
  get isLive(): boolean {
    return this.#current !== undefined || this.#opening !== undefined;
  }

  /** A worn-out server of it may still finish what it was doing. */
  get isLingering(): boolean {
    return this.#worn !== undefined;
  }

  /** Somebody works with it. */
  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** Nothing opens it any more, except a call that was under way when it was retired. */
  get isClosed(): boolean {
    return this.#isRetired || this.#closing.signal.aborted;
  }

  get #isUnused(): boolean {
    return this.#users === 0 && this.#waiting === 0;
  }

  /** Why the last attempt failed, until one succeeds. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get state(): 'idle' | 'starting' | 'ready' | 'failing' {
    if (this.#current) return 'ready';
    if (this.#opening) return 'starting';
    return this.#failure ? 'failing' : 'idle';
  }

  /** A connection that is worn out is closed as soon as nobody uses it. The next use opens another one. */
  set isWorn(isWorn: boolean) {
    this.#isWorn = isWorn;
    if (isWorn && this.#isUnused) this.#replace();
  }

  /** Works with the connection, which stays open meanwhile. */
  async use<T>(work: (upstream: Upstream) => Promise<T>): Promise<T> {
    this.take();
    try {
      return await work(await this.get());
    } finally {
      this.giveBack();
    }
  }

  /** Keeps the connection from being closed as unused until it is given back as often. */
  take(): void {
    this.#users++;
    this.#stopIdle();
  }

  giveBack(): void {
    if (this.#current?.hasServed) {
      this.#losses = 0;
      this.#backoff.reset();
    }
    this.#users--;
    if (this.#isUnused) this.#unused();
  }

  async get(): Promise<Upstream> {
    for (let attempt = 1; ; attempt++) {
      const via = writeVia(arrivedVia());
      const openedBy = this.#opening ? this.#openedBy : via;
      try {
        return await this.#get();
      } catch (thrown) {
        // It was opened for a request that goes round. That says nothing about this one.
        if (!isLoop(thrown) || openedBy === via || attempt === MAX_OPENINGS) throw thrown;
      }
    }
  }

  async #get(): Promise<Upstream> {
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
   * Closes when nobody works with the connection or waits for it any more. A call that was under way elsewhere and comes for it
   * only now opens it once more: it must not fail because the configuration has changed. Resolves when it is first closed.
   */
  async retire(): Promise<void> {
    this.#isRetired = true;
    const closed = new Promise<void>((resolve) => this.#onClosed.push(resolve));
    if (this.#isUnused) this.#unused();
    await closed;
  }

  /** One that is still being opened is not waited for but given up, and those who wait for it are told. */
  async close(): Promise<void> {
    this.#closing.abort(closingError());
    this.#stopIdle();
    await this.#opening?.catch(() => {}); // told to those who opened it
    await Promise.all([this.closeWorn(), this.#end(this.#current)]);
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }

  async #open(admitted: Promise<void> | undefined): Promise<Upstream> {
    try {
      if (admitted) await admitted;
      if (this.#closing.signal.aborted) throw closingError();
      let upstream: Upstream | undefined;
      upstream = await this.#options.open((reason) => this.#lost(upstream, reason), this.#closing.signal);
      if (this.#closing.signal.aborted) await this.#end(upstream);
      if (this.#closing.signal.aborted) throw closingError();
      this.#failure = undefined;
      this.#current = upstream;
      this.#options.onOpen?.(upstream);
      if (this.#isRetired && this.#isUnused) this.#unused(); // who opened it has given up meanwhile
      else if (this.#users === 0) this.#watchIdle();
      return upstream;
    } catch (thrown) {
      if (this.#closing.signal.aborted) throw closingError();
      if (isLoop(thrown) && arrivedVia().length > 0) throw thrown;
      this.#failed(toError(thrown));
      this.#options.onFailed?.(this.#failure!);
      throw this.#failure!;
    }
  }

  #lost(upstream: Upstream | undefined, reason: string): void {
    if (upstream !== undefined && upstream !== this.#current) return;
    this.#current = undefined;
    this.#isWorn = false;
    this.#stopIdle();
    if (this.isClosed || !upstream) return; // one that never came up has failed, and its opener gets that error
    this.#judge(reason);
    this.#options.onLost?.(reason);
  }

  #judge(reason: string): void {
    if (++this.#losses < 2) return;
    this.#failed(new GatewayError('UPSTREAM_CLOSED', { server: 'the server', reason }));
  }

  /** The attempt goes on, also when the caller is told of the last failure meanwhile. */
  #unlessLong(opening: Promise<Upstream>, failure: Error): Promise<Upstream> {
    let stop = (): void => {};
    const late = new Promise<never>((_, reject) => {
      stop = this.#options.clock.after(RETRY_WAIT_MS, () => reject(failure));
    });
    return Promise.race([opening, late]).finally(() => stop());
  }

  #failed(error: Error): void {
    this.#failure = error;
    this.#retryAt = ticksOf(this.#options.clock) + this.#backoff.nextMs();
  }

  #unused(): void {
    // Not at once: who has waited for it takes it in this very turn.
    if (this.#isRetired) setImmediate(() => void this.#closeRetired());
    else if (this.#isWorn) this.#replace();
    if (!this.#isRetired && this.#current) this.#watchIdle();
  }

  #replace(): void {
    const upstream = this.#current;
    if (!upstream || this.#options.isAtWork?.(upstream)) return;
    this.#current = undefined;
    this.#isWorn = false;
    this.#stopIdle();
    this.#options.onReplaced?.();
    void this.closeWorn();
    upstream.mute();
    const { clock, lingerMs = 60_000 } = this.#options;
    const stop = clock.after(lingerMs, () => {
      void this.closeWorn();
      if (this.state === 'idle' && this.#isUnused) this.#options.onIdle?.();
    });
    this.#worn = { upstream, stop };
  }

  /** Ends the server that was worn out, whatever it is doing. */
  async closeWorn(): Promise<void> {
    const worn = this.#worn;
    this.#worn = undefined;
    worn?.stop();
    await this.#end(worn?.upstream);
  }

  async #closeRetired(): Promise<void> {
    if (!this.#isUnused) return;
    const upstream = this.#current;
    this.#current = undefined;
    this.#stopIdle();
    await Promise.all([this.closeWorn(), this.#end(upstream)]);
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }

  /** The time runs from the last moment at which it was used, or kept. */
  #watchIdle(): void {
    const idleMs = this.#options.idleMs?.();
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

  async #end(upstream: Upstream | undefined): Promise<void> {
    const closed = upstream?.close();
    if (closed) this.#options.onClosing?.(closed);
    await closed;
  }

  /** Closes the connection until it is needed again. */
  rest(): void {
    const upstream = this.#current;
    this.#current = undefined;
    this.#stopIdle();
    this.#options.onIdle?.();
    void this.closeWorn();
    void this.#end(upstream);
  }
}

function closingError(): GatewayError {
  return new GatewayError('UPSTREAM_CLOSED', { server: 'the server', reason: 'Parley is closing' });
}
