// Handles sessions that are due: sends warnings and reminders, expires sessions, ends waits, and takes over sessions of dead processes.
// One timer serves all sessions; it is set to the earliest due time.
import { readSafely } from '../../kernel/base/author-callback.ts';
import { toReadable } from '../../kernel/base/errors.ts';
import { isMismatch } from '../engine/mismatch.ts';
import { earlyEndOf, isEnded, toDueAt, toWarningAt, isIdle, nextNoticeAt, nextDeadline } from '../header.ts';
import type { OperatorRequest, Header, Wait, JournalEntry } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { StoredSession } from '../store/store.ts';
import { claimNotices, sendNotices, withAddressees } from './external/people.ts';
import type { AddresseeUpdates } from './external/people.ts';
import type { SessionHost } from './turn/turn-request.ts';
import type { Turn } from './turn/turn.ts';
import { answerSession } from './verbs/answer-session.ts';
import { openStored } from './values/load-session.ts';
import { undoAndRewind } from './verbs/rewind.ts';
import { listenForChanges } from '../store/wake-ups.ts';

const BATCH = 100;
/** Delay before sessions that are still due are tried again: beyond one batch, or held by another process. */
const AGAIN_MS = 100;
/** How often a store that other processes write to is polled. */
const POLL_MS = 5000;
/** Attempts to record a notice while other processes write. */
const MAX_TRIES = 5;

interface OverdueWaits {
  questions: Question[];
  waits: Wait[];
}

export class Sweeper {
  readonly #sessions: SessionHost;
  #at = Infinity;
  #off = (): void => {};
  readonly #offChange: () => void;
  #stopped = false;
  #sweeping: Promise<void> | undefined;

  constructor(sessions: SessionHost) {
    this.#sessions = sessions;
    if (!sessions.context.sweeps) this.#stopped = true;
    else if (sessions.context.store.durable) this.#set(sessions.context.clock.now() + POLL_MS);
    const wake = ({ dueAt }: { dueAt?: number | undefined }): void => this.#set(dueAt ?? Infinity);
    this.#offChange = this.#stopped ? () => {} : listenForChanges(sessions.context, wake);
  }

  /** A session was written; it may be the next one due. */
  expect(header: Header): void {
    if (isEnded(header)) return;
    this.#set(header.state === 'waiting_user' || header.waits ? toDueAt(header) : header.expiresAt);
  }

  stop(): void {
    this.#stopped = true;
    this.#off();
    this.#offChange();
  }

  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  /** Handles what is due for one session. */
  async attend(id: string): Promise<void> {
    const telling: Promise<void>[] = [];
    await this.#attend(id, (told) => telling.push(told));
    await Promise.all(telling);
  }

  /** Notices may take long, so other sessions do not wait for them. */
  async #attend(id: string, onTelling: (told: Promise<void>) => void): Promise<void> {
    const { store, clock, warmBodies } = this.#sessions.context;
    warmBodies.delete(id);
    const found = await store.load(id);
    if (!found || isEnded(found.header)) return;
    const flow = this.#sessions.flows.get(found.header.tool);
    const stored = openStored(this.#sessions.context, found, flow);
    const { header } = stored;
    const now = clock.now();
    if (earlyEndOf(header)) return this.#takeOver(stored);
    const late = header.parked && header.state === 'waiting_user' ? undefined : findOverdue(header, now);
    // A question that extends its session times out when the session would expire.
    const isLateFirst = late !== undefined && nextDeadline(header) <= header.expiresAt && now < header.deadline;
    if (header.expiresAt <= now && !isLateFirst) return this.#expire(stored);
    if (late) return this.#passTime(stored, late);
    if (nextNoticeAt(header) <= now && !header.parked) return onTelling(this.#toldPeople(stored, now));
    if (header.handed) return this.#takeHanded(stored, header.handed);
    if (header.busy) return this.#takeOver(stored);
    if (header.state === 'waiting_user') return header.parked ? undefined : this.#remind(stored, now);
    if (isIdle(header) && !header.parked) return this.expect(header);
    await this.#takeOver(stored);
  }

  async #sweep(): Promise<void> {
    const { clock, log, warmBodies } = this.#sessions.context;
    warmBodies.dropExpired(clock.now());
    const due = await this.#due();
    const telling: Promise<void>[] = [];
    for (const id of due) {
      await this.#attend(id, (told) => telling.push(told)).catch((error: unknown) => {
        if (!isMismatch(error)) log.error({ error }, 'flow.sweep-failed'); // a mismatch parks the session, which was logged
      });
    }
    await Promise.all(telling);
  }

  /** An unavailable store is polled again later. */
  async #due(): Promise<string[]> {
    const { store, clock, log } = this.#sessions.context;
    try {
      return await store.due(clock.now(), BATCH);
    } catch (error) {
      log.error({ error: toReadable(error) }, 'flow.sweep-failed');
      return [];
    }
  }

  async #expire(stored: StoredSession): Promise<void> {
    const flow = this.#sessions.flows.get(stored.header.tool);
    const turn = await this.#sessions.end(stored, flow, { kind: 'fail', reason: 'expired' });
    if (turn) this.#sessions.emit({ kind: 'expired', header: turn.header });
  }

  async #remind(stored: StoredSession, now: number): Promise<void> {
    const { header } = stored;
    if (header.warned || toWarningAt(header) > now) return this.expect(header);
    const { store } = this.#sessions.context;
    const warned = { ...header, warned: 1 };
    const done = await store.commit(header.id, header.rev, { patch: { warned: 1 }, dueAt: toDueAt(warned) });
    if (!done.ok) return;
    this.expect(warned);
    this.#sessions.emit({ kind: 'warning', header: warned, remainingMs: header.expiresAt - now });
  }

  async #toldPeople(stored: StoredSession, now: number): Promise<void> {
    const { log } = this.#sessions.context;
    await this.#tellPeople(stored, now).catch((error: unknown) => log.error({ error }, 'flow.sweep-failed'));
  }

  /** Records the notice after sending it: a repeated notice is better than a lost one. */
  async #tellPeople({ header }: StoredSession, now: number): Promise<void> {
    const { context } = this.#sessions;
    const mine = await this.#writePeople(header, claimNotices(header, now));
    if (!mine) return; // another process sends it, or the session has changed
    const told = await sendNotices(context, header, now);
    let next: Header | undefined = mine;
    for (let tries = 0; next && tries < MAX_TRIES; tries++) {
      const written = await this.#writePeople(next, told);
      if (written) return this.#sessions.emit({ kind: 'person', header: written });
      next = (await context.store.load(header.id))?.header; // another process wrote meanwhile
      if (next && isEnded(next)) return;
    }
  }

  async #writePeople(header: Header, telling: AddresseeUpdates): Promise<Header | undefined> {
    const { store, leaseMs, clock } = this.#sessions.context;
    const next = { ...header, current: withAddressees(header, telling) };
    const dueAt = header.busy ? clock.now() + leaseMs : toDueAt(next);
    const done = await store.commit(header.id, header.rev, { patch: { current: next.current }, dueAt });
    if (!done.ok) return undefined;
    const written = { ...next, rev: done.rev };
    this.expect(written);
    return written;
  }

  /** A question, a sleep or an event has timed out. */
  async #passTime(stored: StoredSession, { questions, waits }: OverdueWaits): Promise<void> {
    const flow = this.#sessions.flowOf(stored.header);
    const answers = questions.map(({ promptId }) => ({ promptId, no: 'timeout' as const }));
    const { id: sessionId, principal } = stored.header;
    const ts = this.#sessions.context.clock.now();
    const turn =
      waits.length === 0
        ? await answerSession(this.#sessions, {
            stored,
            flow,
            request: { sessionId, principal, answers, isForAll: true, src: 'default' },
          })
        : await this.#sessions.runTurn({
            flow,
            ...stored,
            stored: true,
            byItself: true,
            prefix: waits.map((wait) => toElapsedEntry(wait, ts)),
          });
    if (turn) this.#sessions.emit({ kind: 'turn', turn });
  }

  /** An operator has answered, or asks for another try. */
  async #takeHanded(stored: StoredSession, { answers: given, by }: OperatorRequest): Promise<void> {
    const { header } = stored;
    const flow = this.#sessions.flowOf(header);
    const answers = given.map((answer) => ({ ...answer, meta: { operator: by } }));
    const request = {
      sessionId: header.id,
      principal: header.principal,
      answers,
      isForAll: true,
      via: 'terminal' as const,
    };
    try {
      const turn =
        answers.length === 0
          ? await this.#sessions.runTurn({ flow, ...stored, stored: true })
          : await answerSession(this.#sessions, { stored, flow, request });
      if (turn) this.#sessions.emit({ kind: 'turn', turn });
    } catch (error) {
      if (isMismatch(error)) throw error;
      // Drop the request, or it would be rejected again and again.
      const dueAt = toDueAt(header);
      await this.#sessions.context.store.commit(header.id, header.rev, { patch: { handed: undefined }, dueAt });
      throw error;
    }
  }

  /** Continues a session whose process has died, or that was deferred until now. */
  async #takeOver(stored: StoredSession): Promise<void> {
    const flow = this.#sessions.flowOf(stored.header);
    const { pending } = stored.header;
    let turn: Turn | undefined;
    if (pending?.kind === 'cut' || pending?.kind === 'edit') {
      const entry = pending.entry as Extract<typeof pending.entry, { t: 'cut' | 'edit' }>;
      turn = await undoAndRewind(this.#sessions, { flow, stored, entry });
    } else turn = await this.#sessions.runTurn({ flow, ...stored, stored: true });
    if (turn) this.#sessions.emit({ kind: 'turn', turn });
  }

  #set(at: number): void {
    if (at >= this.#at || this.#stopped) return;
    this.#off();
    this.#at = at;
    const { clock } = this.#sessions.context;
    this.#off = clock.after(Math.max(at - clock.now(), 0), () => void this.#wake());
  }

  async #wake(): Promise<void> {
    const { store, clock, log } = this.#sessions.context;
    const at = this.#at;
    this.#at = Infinity;
    if (clock.now() < at) return this.#set(at); // system timers may fire a little early
    await this.sweep();
    const now = clock.now();
    if (store.durable) this.#set(now + POLL_MS);
    // Deferred sessions, and sessions that are due later than the one the timer was set for.
    const fail = (error: unknown): void => log.error({ error: toReadable(error) }, 'flow.sweep-failed');
    const next = readSafely(() => store.nextDue?.(), now + POLL_MS, fail);
    if (next !== undefined) this.#set(next > now ? next : now + AGAIN_MS);
  }
}

/** What has timed out first. The rest is checked after that, since it may have lost a race by then. */
function findOverdue(header: Header, now: number): OverdueWaits | undefined {
  const at = nextDeadline(header);
  if (at > now) return undefined;
  const isFirst = ({ until }: { until?: number | undefined }) => until === at;
  const questions = (header.current as Question[]).filter(isFirst);
  return { questions, waits: questions.length > 0 ? [] : (header.waits ?? []).filter(isFirst) };
}

/** The entry of a wait that has ended. */
function toElapsedEntry({ key: k, kind }: Wait, ts: number): JournalEntry {
  return kind === 'sleep' ? { t: 'step', k, att: 1, ts } : { t: 'evt', k, no: 'timeout', ts };
}
