// A session that goes on by itself while somebody is asked: a question has waited long enough, or all of it has. Whoever asks withdraws the
// question then, and goes on with the turn that it has led to.
import { GatewayError } from '../../../shared/errors.ts';
import { isEnded } from '../../store/store.ts';
import type { Header } from '../../journal.ts';
import type { Question } from '../../question/question.ts';
import { hasOverdue } from './load-session.ts';
import type { SessionEvent } from '../session-event.ts';
import type { Sessions } from '../sessions.ts';
import { waitsForPeopleOrEvents, waitsForOthers, nextDeadline, callerQuestions } from '../external/waits.ts';
import { withOutcome } from '../turn/outcome.ts';
import { toDueAt } from '../ending/timing.ts';
import { settled } from '../turn/turn.ts';
import type { Turn } from '../turn/turn.ts';

/** How often a session is looked at whose time has come, since another process may look after it. */
const LOOK_MS = 1000;

export class SessionWatch {
  readonly #sessions: Sessions;
  readonly #stop: () => void;
  readonly #rest: (turn: Turn) => Promise<Turn>;
  #header: Header;
  #moved: Promise<Turn> | undefined;
  #isLate = false;
  #onMove = (_: Promise<Turn>): void => {};
  #offLook = (): void => {};

  /** `rest`: how far a turn is followed. */
  constructor(sessions: Sessions, header: Header, rest: (turn: Turn) => Promise<Turn> = settled) {
    this.#sessions = sessions;
    this.#rest = rest;
    this.#header = header;
    this.#stop = sessions.on((event) => this.#hear(event));
  }

  /** What it has come to by itself since it was last waited for; undefined where it has not moved. */
  get moved(): Promise<Turn> | undefined {
    return this.#moved;
  }

  /** It has moved because a question was not answered in time; otherwise somebody else has answered it. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Calls `onMove` once, when it goes on by itself from this turn. */
  from({ header }: Turn, onMove: () => void): void {
    this.#header = header;
    this.#moved = undefined;
    this.#onMove = onMove;
    this.#lookAt(waitsForOthers(header) ? 0 : toDueAt(header));
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
    this.#isLate = hasOverdue(this.#header, this.#sessions.setup.clock.now());
    this.#offLook();
    this.#onMove(turn);
  }

  async look(): Promise<void> {
    await this.#look().catch(() => this.#lookAt(0));
  }

  #lookAt(at: number): void {
    const { clock, store } = this.#sessions.setup;
    this.#offLook();
    if (this.#moved) return;
    if (!store.durable) return; // nobody else looks after it
    const ms = Math.max(at - clock.now(), 0) + LOOK_MS;
    this.#offLook = clock.after(ms, () => void this.look());
  }

  async #look(): Promise<void> {
    const { id, rev } = this.#header;
    const found = await this.#sessions.setup.store.load(id);
    const header = found?.header;
    if (!header || header.reason === 'expired')
      return this.#move(Promise.resolve(toExpiredTurn(header ?? this.#header)));
    const isThere = header.rev === rev || (!isEnded(header) && hasSameQuestions(header, this.#header));
    if (isThere || header.state === 'processing' || header.state === 'active') return this.#lookAt(0);
    const outcome = withOutcome(this.#sessions.setup, header);
    this.#move(Promise.resolve({ header, questions: callerQuestions(header), ...outcome }));
  }
}

/** What a session comes to by itself from here. */
export function waitForTurn(
  sessions: Sessions,
  header: Header,
  rest: (turn: Turn) => Promise<Turn> = settled,
): Promise<Turn> {
  const moves = new SessionWatch(sessions, header, rest);
  return new Promise((resolve) => {
    moves.from({ header, questions: [] }, () => {
      moves.close();
      resolve(moves.moved!);
    });
    void moves.look(); // it may have moved before anybody listened
  });
}

/** Where nothing happens by itself, whoever waits lets the time pass. */
export async function waitForTime(sessions: Sessions, header: Header): Promise<Turn> {
  const { clock, store } = sessions.setup;
  await new Promise<void>((resolve) => void clock.after(Math.max(nextDeadline(header) - clock.now(), 0), resolve));
  const turns: Turn[] = [];
  const off = sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  await sessions.attend(header.id).finally(off);
  const now = (await store.load(header.id))?.header ?? header;
  const later = !waitsForPeopleOrEvents(now) && { later: () => waitForTime(sessions, now) };
  return turns.at(-1) ?? { header: now, questions: callerQuestions(now), ...later };
}

/** The same questions wait. */
export function hasSameQuestions(one: Header, other: Header): boolean {
  const idsOf = ({ current }: Header) => (current as Question[]).map(({ promptId }) => promptId).join();
  return idsOf(one) === idsOf(other);
}

export function toExpiredTurn(header: Header): Turn {
  const { code: name, message } = new GatewayError('FLOW_SESSION_EXPIRED', { sessionId: header.id });
  return { header, questions: [], failure: { name, message } };
}
