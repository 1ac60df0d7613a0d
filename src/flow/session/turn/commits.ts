// Writes to one session. Without the lease, a write succeeds only if nothing was written since the session was read. With the lease, changes
// of other writers (such as more time) are kept and the write is repeated; only an end stops it.
import { callerQuestions, earlyEndOf, isEnded, patchHeader } from '../../header.ts';
import { estimateSize } from '../../fold.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import type { SessionChange } from '../../store/store.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createCounter } from '../../../kernel/crypto/ids.ts';
import { sealUnaskedArgs } from '../values/stored-args.ts';
import type { SessionContext } from '../context/session-context.ts';
import { toSessionLimits, tooManySessions } from '../context/flow-limits.ts';
import type { Turn } from './turn.ts';

type Terms = Pick<SessionChange, 'dueAt' | 'tombstoneMs'>;

const MAX_TRIES = 100;
const nextOwner = createCounter('.');

export class Commits {
  /** Another process asked to end it. The holder of the lease carries that out. */
  ending: EarlyEnd | undefined;
  /** All entries that were written here. */
  readonly added: JournalEntry[] = [];
  /** Another process wrote in between. */
  mixed = false;
  /** Another process wrote entries that the holder must read before its next write. */
  isBehind = false;
  /** The first write with a lease from `takeLease` succeeds only if nothing was written since the session was read. */
  #mustMatch = false;
  readonly #context: SessionContext;
  #header: Header;
  #stored: boolean;
  #fence: number | undefined;
  #ownerId: string | undefined;
  #renewing: (() => void) | undefined;
  #over = false;
  #last: Promise<unknown> | undefined;

  constructor(context: SessionContext, header: Header, stored: boolean) {
    this.#context = context;
    this.#header = header;
    this.#stored = stored;
  }

  /** Unique per TurnRunner, so that a second one in this process does not get the lease of the first. */
  get #owner(): string {
    return (this.#ownerId ??= this.#context.owner + nextOwner());
  }

  get hasLease(): boolean {
    return this.#fence !== undefined;
  }

  get header(): Header {
    return this.#header;
  }

  /** The new header; undefined if another writer was faster. */
  write(patch: Partial<Header>, add: JournalEntry[], terms: Terms = {}): Promise<Header | undefined> {
    const whole = this.#grown(patch, add);
    if (!this.#stored) return this.#create(whole, add, terms);
    return this.#fence === undefined
      ? this.#write(whole, add, terms)
      : this.#inTurn(() => this.#write(whole, add, terms));
  }

  async #write(patch: Partial<Header>, add: JournalEntry[], terms: Terms): Promise<Header | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { id, rev } = this.#header;
      const dueAt = terms.dueAt ?? (this.#fence === undefined ? undefined : this.#leaseEnd());
      const change = { patch, add, dueAt, tombstoneMs: terms.tombstoneMs, fence: this.#fence };
      const done = await this.#context.store.commit(id, rev, change);
      if (done.ok) return this.#written(patchHeader(this.#header, patch), add);
      // Without the lease, or if the lease is lost or the session has ended, another writer wins.
      if (this.#fence === undefined || !done.header || isEnded(done.header) || done.header.rev === rev) break;
      if (this.#mustMatch) break;
      const isEnding = earlyEndOf(this.#header) !== undefined;
      if (!isEnding && !earlyEndOf(done.header) && done.header.left !== this.#header.left) {
        this.isBehind = true;
        break;
      }
      this.#header = done.header;
      this.mixed = true;
      if (isEnding) continue;
      this.ending = earlyEndOf(done.header);
      if (this.ending) break;
    }
    return undefined;
  }

  /** Takes the lease until `releaseLease`; false while another process holds it. */
  async takeLease(): Promise<boolean> {
    await this.#renew();
    this.#mustMatch = this.hasLease;
    return this.hasLease;
  }

  /** The session was read again. */
  catchUp(header: Header | undefined): void {
    this.isBehind = false;
    this.mixed = true;
    this.#header = header ?? this.#header;
  }

  /** Writes, and takes the lease until `releaseLease`. */
  async writeAndTakeLease(patch: Partial<Header>, add: JournalEntry[]): Promise<Header | undefined> {
    const { store, leaseMs } = this.#context;
    if (!this.#stored) {
      const header = await this.write(patch, add, { dueAt: this.#leaseEnd() });
      if (header) await this.#renew();
      return header;
    }
    const lease = await store.lease(this.#header.id, this.#owner, leaseMs);
    if (!lease) return undefined;
    // The first write with the lease still succeeds only if nothing was written since the session was read.
    const whole = this.#grown(patch, add);
    const change = { patch: whole, add, fence: lease.fence, dueAt: this.#leaseEnd() };
    const done = await store.commit(this.#header.id, this.#header.rev, change);
    if (!done.ok) {
      await store.release(this.#header.id, this.#owner);
      return undefined;
    }
    this.#fence = lease.fence;
    this.#renewLater();
    return this.#written(patchHeader(this.#header, whole), add);
  }

  /** Waits for a pending renewal. A lease that cannot be released expires. */
  async releaseLease(): Promise<void> {
    this.#over = true;
    this.#renewing?.();
    if (this.#fence === undefined) return;
    const { store, log } = this.#context;
    await this.#inTurn(() => store.release(this.#header.id, this.#owner)).catch((error: unknown) =>
      log.warn({ error }, 'flow.lease-not-released'),
    );
  }

  /** The state in the store. */
  async current(): Promise<Turn> {
    const { store, log } = this.#context;
    const stored = await store.load(this.#header.id).catch((error: unknown) => {
      log.error({ error }, 'flow.store-failed');
      return undefined;
    });
    const header = stored?.header ?? this.#header;
    return { header, questions: callerQuestions(header) };
  }

  async #create(patch: Partial<Header>, add: JournalEntry[], terms: Terms): Promise<Header | undefined> {
    const { store, limits } = this.#context;
    const whole = { ...this.#header, ...patch };
    // A session that ends in its first turn is created first, so that its end is stored like any other.
    const first: Header = isEnded(whole)
      ? { ...whole, state: 'active', current: [], outcome: undefined, trail: undefined }
      : whole;
    const most = toSessionLimits(limits, terms.dueAt);
    const made = await store.create(first, sealUnaskedArgs(this.#context, first.id, add), most);
    if (made === 'network') throw tooManySessions(limits, 'sessionsPerNetwork');
    if (made === 'limit') throw await this.#toLimit();
    if (made === 'exists') return undefined; // the same start, sent twice
    this.#stored = true;
    this.#context.counts.started(first);
    const written = this.#written(first, add);
    if (!isEnded(whole)) return written;
    const { state, reason, outcome, trail } = whole;
    return this.write({ state, reason, outcome, trail }, [], terms);
  }

  #written(header: Header, add: JournalEntry[]): Header {
    this.#context.counts.wrote(this.#header, header, add);
    this.#mustMatch = false;
    this.added.push(...add);
    this.#header = header;
    return header;
  }

  #grown(patch: Partial<Header>, add: JournalEntry[]): Partial<Header> {
    if (add.length === 0) return patch;
    const size = (this.#header.size ?? 0) + estimateSize(add);
    const { journalBytes } = this.#context.limits;
    // Intents, undos and everything that ends a session are always written.
    const isEnding = earlyEndOf(this.#header) ?? earlyEndOf(patch);
    if (size > journalBytes && !isEnding && add.some(({ t }) => t !== 'int' && t !== 'undo')) {
      const what = `no more than ${journalBytes} bytes in a journal`;
      throw new GatewayError('FLOW_LIMIT', { sessionId: this.#header.id, what, limit: 'journalBytes' });
    }
    return { ...patch, size };
  }

  /** Finds out which of the two limits was reached. */
  async #toLimit(): Promise<GatewayError> {
    const { store, limits } = this.#context;
    const own = await store.list(this.#header.share ?? this.#header.principal);
    const limit = own.length >= limits.sessionsPerPrincipal ? 'sessionsPerPrincipal' : 'sessions';
    return tooManySessions(limits, limit);
  }

  async #renew(): Promise<void> {
    const { store, leaseMs } = this.#context;
    const lease = await store.lease(this.#header.id, this.#owner, leaseMs);
    if (!lease) return;
    this.#fence = lease.fence;
    this.#renewLater();
  }

  #renewLater(): void {
    if (this.#over) return;
    const { clock, leaseMs } = this.#context;
    this.#renewing?.();
    this.#renewing = clock.after(leaseMs / 3, () => void this.#renewNow());
  }

  /** An unavailable store is tried again. If it stays away, the lease expires and its fence stops this process. */
  async #renewNow(): Promise<void> {
    try {
      await this.#inTurn(() => this.#renew());
    } catch (error) {
      this.#context.log.warn({ error }, 'flow.lease-not-renewed');
      this.#renewLater();
    }
  }

  /** A renewal changes the fence, so a pending write with the old fence would be rejected. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = (this.#last ?? Promise.resolve()).then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** When another process should take over if this one is silent. */
  #leaseEnd(): number {
    return this.#context.clock.now() + this.#context.leaseMs;
  }
}

export function isLimitError(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'FLOW_LIMIT';
}
