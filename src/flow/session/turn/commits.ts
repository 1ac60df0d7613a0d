// Writes to one session. Before it holds the lease, a write counts only if nobody has written since it was read; with the lease, what
// others wrote meanwhile (the owner went on, the time was extended) is kept, and only an end stops it.
import { earlyEndOf } from '../../journal.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import { isEnded } from '../../store/store.ts';
import type { SessionChange } from '../../store/store.ts';
import { patchHeader } from '../../store/patch-header.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { createCounter } from '../../../shared/crypto/ids.ts';
import { estimateSize } from '../../journal-size.ts';
import { sealUnaskedArgs } from '../values/sealed-args.ts';
import type { SessionContext } from '../session-context.ts';
import { callerQuestions } from '../external/waits.ts';
import type { Turn } from './turn.ts';

export interface WriteResult {
  /** As it stands now; undefined if somebody else was faster. */
  header: Header | undefined;
}

type Terms = Pick<SessionChange, 'dueAt' | 'tombstoneMs'>;

const MAX_TRIES = 100;
const nextDrive = createCounter('.');

export class Commits {
  /** Somebody else has ended it meanwhile, without the lease. The holder of the lease carries it out. */
  ending: EarlyEnd | undefined;
  /** All that was written here. */
  readonly added: JournalEntry[] = [];
  /** Somebody else has written in between. */
  mixed = false;
  /** Something was written down meanwhile for the holder of the lease, who has to take it up before he writes. */
  isBehind = false;
  /** The first write with a lease that was taken before counts only if nobody was faster. */
  #mustMatch = false;
  readonly #setup: SessionContext;
  #header: Header;
  #stored: boolean;
  #fence: number | undefined;
  #ownerId: string | undefined;
  #renewing: (() => void) | undefined;
  #over = false;
  #last: Promise<unknown> | undefined;

  constructor(setup: SessionContext, header: Header, stored: boolean) {
    this.#setup = setup;
    this.#header = header;
    this.#stored = stored;
  }

  /** Every drive holds leases of its own: a second one in this process must not get the lease of the first. */
  get #owner(): string {
    return (this.#ownerId ??= this.#setup.owner + nextDrive());
  }

  /** The lease is here. */
  get holds(): boolean {
    return this.#fence !== undefined;
  }

  get header(): Header {
    return this.#header;
  }

  write(patch: Partial<Header>, add: JournalEntry[], terms: Terms = {}): Promise<WriteResult> {
    const whole = this.#grown(patch, add);
    if (!this.#stored) return this.#create(whole, add, terms);
    return this.#fence === undefined
      ? this.#write(whole, add, terms)
      : this.#inTurn(() => this.#write(whole, add, terms));
  }

  async #write(patch: Partial<Header>, add: JournalEntry[], terms: Terms): Promise<WriteResult> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { id, rev } = this.#header;
      const dueAt = terms.dueAt ?? (this.#fence === undefined ? undefined : this.#leaseEnd());
      const change = { patch, add, dueAt, tombstoneMs: terms.tombstoneMs, fence: this.#fence };
      const done = await this.#setup.store.commit(id, rev, change);
      if (done.ok) return this.#written(patchHeader(this.#header, patch), add);
      // Without the lease, or if it is lost or all is over, somebody else has the say.
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
    return { header: undefined };
  }

  /** Keeps others from going on with it until `letGo`; false while somebody else does so. */
  async take(): Promise<boolean> {
    await this.#renew();
    this.#mustMatch = this.holds;
    return this.holds;
  }

  /** As it was found in the store. */
  catchUp(header: Header | undefined): void {
    this.isBehind = false;
    this.mixed = true;
    this.#header = header ?? this.#header;
  }

  /** Writes, and keeps others from going on with it until `letGo`. */
  async hold(patch: Partial<Header>, add: JournalEntry[]): Promise<WriteResult> {
    const { store, leaseMs } = this.#setup;
    if (!this.#stored) {
      const { header } = await this.write(patch, add, { dueAt: this.#leaseEnd() });
      if (header) await this.#renew();
      return { header };
    }
    const lease = await store.lease(this.#header.id, this.#owner, leaseMs);
    if (!lease) return { header: undefined };
    // The first write with the lease still counts only if nobody was faster.
    const whole = this.#grown(patch, add);
    const change = { patch: whole, add, fence: lease.fence, dueAt: this.#leaseEnd() };
    const done = await store.commit(this.#header.id, this.#header.rev, change);
    if (!done.ok) {
      await store.release(this.#header.id, this.#owner);
      return { header: undefined };
    }
    this.#fence = lease.fence;
    this.#renewLater();
    return this.#written(patchHeader(this.#header, whole), add);
  }

  /** After a renewal that is under way. A lease that cannot be let go runs out. */
  async letGo(): Promise<void> {
    this.#over = true;
    this.#renewing?.();
    if (this.#fence === undefined) return;
    const { store, log } = this.#setup;
    await this.#inTurn(() => store.release(this.#header.id, this.#owner)).catch((error: unknown) =>
      log.warn({ error }, 'flow.lease-not-released'),
    );
  }

  /** Where it stands, whoever brought it there. */
  async current(): Promise<Turn> {
    const { store, log } = this.#setup;
    const stored = await store.load(this.#header.id).catch((error: unknown) => {
      log.error({ error }, 'flow.store-failed');
      return undefined;
    });
    const header = stored?.header ?? this.#header;
    return { header, questions: callerQuestions(header) };
  }

  async #create(patch: Partial<Header>, add: JournalEntry[], terms: Terms): Promise<WriteResult> {
    const { store, limits } = this.#setup;
    const whole = { ...this.#header, ...patch };
    // What ends at once was there all the same: it is made first, so that its end is kept like every other.
    const first: Header = isEnded(whole)
      ? { ...whole, state: 'active', current: [], outcome: undefined, trail: undefined }
      : whole;
    const most = { perPrincipal: limits.sessionsPerPrincipal, total: limits.sessions, dueAt: terms.dueAt };
    const made = await store.create(first, sealUnaskedArgs(this.#setup, first.id, add), most);
    if (made === 'limit') throw await this.#toLimit();
    if (made === 'exists') return { header: undefined }; // the same start, twice at once
    this.#stored = true;
    this.#setup.counts.started(first);
    const written = this.#written(first, add);
    if (!isEnded(whole)) return written;
    const { state, reason, outcome, trail } = whole;
    return this.write({ state, reason, outcome, trail }, [], terms);
  }

  #written(header: Header, add: JournalEntry[]): WriteResult {
    this.#setup.counts.wrote(this.#header, header, add);
    this.#mustMatch = false;
    this.added.push(...add);
    this.#header = header;
    return { header };
  }

  #grown(patch: Partial<Header>, add: JournalEntry[]): Partial<Header> {
    if (add.length === 0) return patch;
    const size = (this.#header.size ?? 0) + estimateSize(add);
    const { journalBytes } = this.#setup.limits;
    // That something is about to begin, or was taken back, is always written down; and so is all that a session does to end.
    const isEnding = earlyEndOf(this.#header) ?? earlyEndOf(patch);
    if (size > journalBytes && !isEnding && add.some(({ t }) => t !== 'int' && t !== 'undo')) {
      const what = `no more than ${journalBytes} bytes in a journal`;
      throw new GatewayError('FLOW_LIMIT', { sessionId: this.#header.id, what, limit: 'journalBytes' });
    }
    return { ...patch, size };
  }

  /** Which of the two it was is looked up only now. */
  async #toLimit(): Promise<GatewayError> {
    const { store, limits } = this.#setup;
    const own = await store.list(this.#header.principal);
    const limit = own.length >= limits.sessionsPerPrincipal ? 'sessionsPerPrincipal' : 'sessions';
    const what = `no more than ${limits[limit]} sessions at once`;
    return new GatewayError('FLOW_LIMIT', { what, limit, retryAfterMs: 1000 });
  }

  async #renew(): Promise<void> {
    const { store, leaseMs } = this.#setup;
    const lease = await store.lease(this.#header.id, this.#owner, leaseMs);
    if (!lease) return;
    this.#fence = lease.fence;
    this.#renewLater();
  }

  #renewLater(): void {
    if (this.#over) return;
    const { clock, leaseMs } = this.#setup;
    this.#renewing?.();
    this.#renewing = clock.after(leaseMs / 3, () => void this.#renewNow());
  }

  /** A store that is away for a moment is asked again; if it stays away, the lease runs out and its fence stops this process. */
  async #renewNow(): Promise<void> {
    try {
      await this.#inTurn(() => this.#renew());
    } catch (error) {
      this.#setup.log.warn({ error }, 'flow.lease-not-renewed');
      this.#renewLater();
    }
  }

  /** Renewing makes a new fence: a write that is under way with the old one would be refused. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = (this.#last ?? Promise.resolve()).then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** When somebody else should look after it, if this process is silent until then. */
  #leaseEnd(): number {
    return this.#setup.clock.now() + this.#setup.leaseMs;
  }
}

/** A journal, or a principal, that may not grow further. */
export function isLimitError(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'FLOW_LIMIT';
}
