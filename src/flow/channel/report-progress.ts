// Reports progress to the client of a waiting call: the progress of steps, whom the flow waits for, and that a form is still open.
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { PromptStep } from '../../kernel/form/prompt.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { Header } from '../journal.ts';
import { peopleOf, callerQuestions } from '../header.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Turn } from '../session/turn/turn.ts';

interface ProgressReporter {
  /** Sets the session, if it was unknown at first; its steps may report before. */
  of(sessionId: string): void;
  /** The session may wait for other people. */
  waits(header: Header): void;
  /** The session asks something or has ended. */
  goesOn(): void;
  stop(): void;
}

/** Limit on sessions that start at the same time. */
const MAX_EARLY = 1000;
/** How often to repeat what a call waits for, as some clients give up silent calls. */
const STILL_MS = 20_000;
const FOR_AN_ANSWER = 'Waiting for an answer';

export function reportProgress(exchange: Exchange, sessions: Sessions, sessionId?: string): ProgressReporter {
  let id = sessionId;
  const early = new BoundedMap<string, PromptStep>(MAX_EARLY);
  const waiting = new WaitingCall(exchange, sessions);
  const stop = sessions.on((event) => {
    if (event.kind === 'person' && event.header.id === id) waiting.waits(event.header);
    if (event.kind === 'turn' && event.turn.header.id === id) waiting.moved(event.turn);
    if (event.kind !== 'progress') return;
    if (id === undefined) early.set(event.header.id, event.progress);
    else if (event.header.id === id) sendProgress(exchange, event.progress);
  });
  return {
    stop() {
      waiting.goesOn();
      stop();
    },
    of(found) {
      id = found;
      const said = early.get(found);
      if (said) sendProgress(exchange, said);
    },
    waits: (header) => waiting.waits(header),
    goesOn: () => waiting.goesOn(),
  };
}

/** Reports whom a call waits for, until it continues. */
class WaitingCall {
  readonly #exchange: Exchange;
  readonly #sessions: Sessions;
  #said = '';
  #over = new AbortController();
  #offStill = (): void => {};

  constructor(exchange: Exchange, sessions: Sessions) {
    this.#exchange = exchange;
    this.#sessions = sessions;
  }

  waits(header: Header): void {
    const words = describeWaiting(peopleOf(header));
    if (words === this.#said) return;
    this.goesOn();
    if (words === '') return;
    this.#said = words;
    this.#say(words);
    // If the user is asked, too, the client sees that question instead.
    if (callerQuestions(header).length === 0) this.#exchange.waits?.(words, this.#over.signal);
  }

  moved(turn: Turn): void {
    if (turn.later && !turn.next) this.waits(turn.header);
    else this.goesOn();
  }

  goesOn(): void {
    if (this.#said === '') return;
    this.#said = '';
    this.#offStill();
    this.#over.abort();
    this.#over = new AbortController();
  }

  #say(words: string): void {
    tellStill(this.#exchange, words);
    this.#offStill = repeatStill(this.#exchange, this.#sessions.context.clock, words);
  }
}

/** Asks the client. While the form is open, a client that wants progress is told that the call is alive. */
export async function askAlive(
  exchange: Exchange,
  ask: Ask,
  { clock, signal }: { clock: Clock; signal?: AbortSignal },
): Promise<JsonObject> {
  const stop = repeatStill(exchange, clock, FOR_AN_ANSWER);
  try {
    return await exchange.ask(ask, signal);
  } finally {
    stop();
  }
}

function repeatStill(exchange: Exchange, clock: Clock, words: string): () => void {
  if (exchange.wantsProgress !== true) return () => {};
  const again = (): void => {
    tellStill(exchange, words);
    off = clock.after(STILL_MS, again);
  };
  let off = clock.after(STILL_MS, again);
  return () => off();
}

function tellStill(exchange: Exchange, message: string): void {
  const { current, total } = furthest.get(exchange) ?? {};
  sendProgress(exchange, { current: aLittleMore(current), ...(total !== undefined && { total }), message });
}

export function describeWaiting(people: readonly string[]): string {
  if (people.length === 0) return '';
  const [last, ...others] = people.toReversed();
  return `Waiting for ${others.length > 0 ? `${others.toReversed().join(', ')} and ${last}` : last}`;
}

const furthest = new WeakMap<Exchange, { current: number; total?: number | undefined }>();

/** Waiting is not progress, but each notification must be higher than the last, so it grows by a thousandth. */
function aLittleMore(current: number | undefined): number {
  return current === undefined ? 0 : (Math.round(current * 1000) + 1) / 1000;
}

/** MCP requires progress to grow with each notification. */
export function sendProgress(exchange: Exchange, { current, total, ...rest }: PromptStep): void {
  if (current <= (furthest.get(exchange)?.current ?? -Infinity)) return;
  furthest.set(exchange, { current, total });
  exchange.progress({ ...rest, ...(total !== undefined && { total }), progress: current });
}
