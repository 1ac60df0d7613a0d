// The open rounds of all gateways that serve as one, so that each of them can show what waits for a person. The answer goes to the gateway that has
// the round, whose mark is in its handle.
// 1. Each gateway has one row, which it writes when its rounds change, and again while it has some: a store that was emptied has it soon, and the row
//    of a gateway that hangs ends.
// 2. What is shown of another gateway's round is whole, or it is not shown: then it can be answered on its own page alone.
// 3. Nobody waits for the store: if it does not answer, each gateway shows its own rounds.
import type { Ask } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { toReadable } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { Nodes } from '../../kernel/nodes/nodes.ts';
import type { State } from '../../kernel/state/state.ts';
import type { QuestionRound, RoundQuestion } from '../question-round.ts';

interface SharedRoundsParts {
  state: State;
  nodes: Nodes;
  clock: Clock;
  log: Log;
  /** Of this gateway. */
  own: () => Iterable<QuestionRound>;
}

type RoundRow = Omit<QuestionRound, 'isOpen' | 'answer' | 'handOver' | 'isHandedOverTooOften'>;

const SET = 'questions';
/** Changes that come together are written together. */
const TOGETHER_MS = 100;
const AGAIN_MS = 5000;
const LIFE_MS = 15_000;
/** Who looks all the time, such as a console, causes one read in this time. */
const READ_MS = 500;
/** Of one gateway. */
const MAX_ROUNDS = 500;
const MAX_CHARS = 512 * 1024;
const MAX_ROUND_CHARS = 32 * 1024;

export class SharedRounds {
  readonly #parts: SharedRoundsParts;
  #version = 0;
  #stop: (() => void) | undefined;
  #isSoon = false;
  #isClosed = false;
  #writing: Promise<void> = Promise.resolve();
  #found: readonly QuestionRound[] = [];
  #reading: Promise<void> | undefined;
  #readAt = -Infinity;

  constructor(parts: SharedRoundsParts) {
    this.#parts = parts;
  }

  /** The rounds of this gateway are others than before. */
  touch(): void {
    if (this.#isSoon || this.#isClosed) return;
    this.#isSoon = true;
    this.#schedule(TOGETHER_MS);
  }

  /** Those of the other gateways that are there, the oldest first. */
  async elsewhere(): Promise<readonly QuestionRound[]> {
    const { clock, nodes } = this.#parts;
    if (ticksOf(clock) - this.#readAt >= READ_MS) await (this.#reading ??= this.#read());
    const now = clock.now();
    return this.#found.filter(({ handle, expiresAt }) => expiresAt > now && nodes.ownerOf(handle) !== undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop?.();
    await this.#writing;
    if (this.#version !== 0) await this.#parts.state.remove(SET, this.#parts.nodes.self).catch(() => false);
  }

  #schedule(ms: number): void {
    this.#stop?.();
    this.#stop = this.#parts.clock.after(ms, () => {
      this.#isSoon = false;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  async #write(): Promise<void> {
    if (this.#isClosed) return;
    const rounds = toRows(this.#parts.own());
    try {
      await this.#put(rounds);
    } catch (error) {
      this.#parts.log.debug({ error: toReadable(error) }, 'ask.not-shared');
    }
    const isDone = rounds.length === 0 && this.#version === 0;
    if (!isDone && !this.#isSoon && !this.#isClosed) this.#schedule(AGAIN_MS);
  }

  async #put(rounds: readonly RoundRow[]): Promise<void> {
    const { state, nodes } = this.#parts;
    if (rounds.length === 0) {
      if (this.#version !== 0) await state.remove(SET, nodes.self);
      this.#version = 0;
      return;
    }
    const text = JSON.stringify({ v: 1, rounds });
    const put = (version: number): Promise<number | undefined> =>
      state.put(SET, nodes.self, text, { version, ttlMs: LIFE_MS });
    const written = (await put(this.#version)) ?? (await put((await state.get(SET, nodes.self))?.version ?? 0));
    if (written !== undefined) this.#version = written;
  }

  async #read(): Promise<void> {
    const { state, nodes, clock, log } = this.#parts;
    try {
      const rows = [...(await state.list(SET))].filter(([node]) => node !== nodes.self);
      const rounds = rows.flatMap(([, { value }]) => readRows(value));
      this.#found = rounds.sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
    } catch (error) {
      log.debug({ error: toReadable(error) }, 'ask.not-shared');
    } finally {
      this.#readAt = ticksOf(clock);
      this.#reading = undefined;
    }
  }
}

/** The newest ones, if there are too many: the oldest end first. */
function toRows(own: Iterable<QuestionRound>): RoundRow[] {
  const open = [...own].filter(({ isOpen }) => isOpen).slice(-MAX_ROUNDS);
  let chars = 0;
  return open.map((round) => {
    const whole = toRow(round, round.questions.map(toPlainQuestion));
    const { length } = JSON.stringify(whole);
    const isShown = length <= MAX_ROUND_CHARS && chars + length <= MAX_CHARS;
    if (isShown) chars += length;
    return isShown ? whole : toRow(round, round.questions.slice(0, 1).map(toUnshown));
  });
}

function toRow(round: QuestionRound, questions: readonly RoundQuestion[]): RoundRow {
  const { handle, principal, about, isOthers, user, isVouched, waitsFor, since, expiresAt } = round;
  return { handle, principal, questions, about, isOthers, user, isVouched, waitsFor, since, expiresAt };
}

function toPlainQuestion({ key, ask }: RoundQuestion): RoundQuestion {
  const { method, params, human, ofGateway, revisable, page } = ask;
  const plain: Ask = { method, human, ofGateway, revisable, page };
  return { key, ask: params ? { ...plain, params } : plain };
}

/** Without its text and its form, so that nobody can say yes to what they have not seen. */
function toUnshown({ key, ask }: RoundQuestion): RoundQuestion {
  const { method, human, ofGateway } = ask;
  return { key, ask: { method, human, ofGateway, params: { message: 'It is shown on its own page.' } } };
}

function readRows(value: string): QuestionRound[] {
  const row: unknown = JSON.parse(value);
  if (!isObject(row) || row.v !== 1 || !Array.isArray(row.rounds)) return [];
  return row.rounds.filter(isRow).map((one) => ({ ...one, isOpen: true, answer: () => false }));
}

/** Written by a gateway that may be newer. */
function isRow(one: unknown): one is RoundRow {
  const { handle, principal, questions, about, expiresAt } = isObject(one) ? one : ({} as JsonObject);
  const isNamed = typeof handle === 'string' && typeof principal === 'string' && isObject(about);
  return isNamed && typeof expiresAt === 'number' && Array.isArray(questions);
}
