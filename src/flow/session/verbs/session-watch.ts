// Watches a session while its questions are shown. It may continue without an answer from here: a question times out, another person
// answers, it expires. The channel then withdraws its question and continues with the new turn.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { pause } from '../../../kernel/base/timing.ts';
import {
  isEnded,
  toDueAt,
  hasOverdue,
  waitsForPeopleOrEvents,
  waitsForOthers,
  nextDeadline,
  callerQuestions,
  hasSameQuestions,
} from '../../header.ts';
import type { Header } from '../../journal.ts';
import type { SessionEvent } from '../turn/session-event.ts';
import type { SessionHost } from '../turn/turn-request.ts';
import { withOutcome } from '../turn/ended-record.ts';
import { settled } from '../turn/turn.ts';
import type { Turn } from '../turn/turn.ts';
import { listenForChanges } from '../../store/wake-ups.ts';

/** How often the store is read once the session is due, since another process may handle it. */
const LOOK_MS = 1000;
/** How often it is read before that: another process may have ended the session. */
const AWAY_MS = 5000;

type WatchedSessions = Pick<SessionHost, 'context' | 'on' | 'attend'>;

export class SessionWatch {
  readonly #sessions: WatchedSessions;
  readonly #stop: () => void;
  readonly #rest: (turn: Turn) => Promise<Turn>;
  #header: Header;
  #moved: Promise<Turn> | undefined;
  #isLate = false;
  #onMove = (_: Promise<Turn>): void => {};
  #offLook = (): void => {};

  /** `rest` waits until the turn is one to report. */
  constructor(sessions: WatchedSessions, header: Header, rest: (turn: Turn) => Promise<Turn> = settled) {
    this.#sessions = sessions;
    this.#rest = rest;
    this.#header = header;
    const off = sessions.on((event) => this.#hear(event));
    const offChange = listenForChanges(sessions.context, ({ id }) => {
      if (id === this.#header.id && !this.#moved) void this.look();
    });
    this.#stop = () => {
      off();
      offChange();
    };
  }

  /** The turn that the session took without an answer from this call; undefined until it takes one. */
  get moved(): Promise<Turn> | undefined {
    return this.#moved;
  }

  /** It continued because of a timeout, and not because another person answered. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Calls `onMove` once, when the session continues from this turn. */
  from({ header }: Turn, onMove: () => void): void {
    this.#header = header;
    this.#moved = undefined;
    this.#onMove = onMove;
    this.#lookLater();
  }

  close(): void {
    this.#stop();
    this.#offLook();
  }

  #hear(event: SessionEvent): void {
    if (event.kind === 'turn' && event.turn.header.id === this.#header.id) this.#move(this.#rest(event.turn));
    if (event.kind === 'expired' && event.header.id === this.#header.id)
      this.#move(Promise.resolve(toExpiredTurn(event.header)));
    if (event.kind === 'cancelled' && event.header.id === this.#header.id)
      this.#move(Promise.resolve({ header: event.header, questions: [] }));
  }

  #move(turn: Promise<Turn>): void {
    if (this.#moved) return;
    this.#moved = turn;
    this.#isLate = hasOverdue(this.#header, this.#sessions.context.clock.now());
    this.#offLook();
    this.#onMove(turn);
  }

  async look(): Promise<void> {
    await this.#look().catch(() => this.#lookLater());
  }

  #lookLater(): void {
    const { clock, store } = this.#sessions.context;
    this.#offLook();
    if (this.#moved) return;
    if (!store.durable) return; // no other process can change it
    const now = clock.now();
    const isSoon = waitsForOthers(this.#header) || toDueAt(this.#header) - now < AWAY_MS;
    this.#offLook = clock.after(isSoon ? LOOK_MS : AWAY_MS, () => void this.look());
  }

  async #look(): Promise<void> {
    const { id, rev } = this.#header;
    const found = await this.#sessions.context.store.load(id);
    const header = found?.header;
    if (!header || header.reason === 'expired')
      return this.#move(Promise.resolve(toExpiredTurn(header ?? this.#header)));
    const isThere = header.rev === rev || (!isEnded(header) && hasSameQuestions(header, this.#header));
    if (isThere || header.state === 'processing' || header.state === 'active') return this.#lookLater();
    const outcome = withOutcome(this.#sessions.context, header);
    this.#move(Promise.resolve({ header, questions: callerQuestions(header), ...outcome }));
  }
}

/** Waits for the next turn that follows without an answer from here. */
export function waitForTurn(
  sessions: WatchedSessions,
  header: Header,
  rest: (turn: Turn) => Promise<Turn> = settled,
): Promise<Turn> {
  const moves = new SessionWatch(sessions, header, rest);
  return new Promise((resolve) => {
    moves.from({ header, questions: [] }, () => {
      moves.close();
      resolve(moves.moved!);
    });
    void moves.look(); // it may have continued before this listened
  });
}

/** The same for sessions without a sweeper: waits for the next deadline and handles it. */
export async function waitForTime(sessions: WatchedSessions, header: Header): Promise<Turn> {
  const { clock, store } = sessions.context;
  await pause(clock, Math.max(nextDeadline(header) - clock.now(), 0));
  const turns: Turn[] = [];
  const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  await sessions.attend(header.id).finally(off);
  const now = (await store.load(header.id))?.header ?? header;
  const later = !waitsForPeopleOrEvents(now) && { later: () => waitForTime(sessions, now) };
  return turns.at(-1) ?? { header: now, questions: callerQuestions(now), ...later };
}

export function toExpiredTurn(header: Header): Turn {
  const { code: name, message } = new GatewayError('FLOW_SESSION_EXPIRED', { sessionId: header.id });
  return { header, questions: [], failure: { name, message } };
}
