// Tests a flow: answers by name, without any client or as one of a kind; crashes everywhere, and journals of the past.
import { isDeepStrictEqual } from 'node:util';
import type { AnyFlow } from '../flow/define.ts';
import { BodyRun } from '../flow/engine/body-run.ts';
import { fold } from '../flow/fold.ts';
import type { JournalEntry } from '../flow/journal.ts';
import { CrashPoints } from '../flow/testing/crash-points.ts';
import { manualClock } from '../flow/testing/manual-clock.ts';
import type { ManualClock } from '../flow/testing/manual-clock.ts';
import { playFlow } from '../flow/testing/play-flow.ts';
import type { ScriptedAnswers, PlayResult, FlowPlayOptions } from '../flow/testing/play-flow.ts';
import { playAsClient } from './as-client/play-as-client.ts';
import type { AsClientOptions, PlayedAsClient } from './as-client/play-as-client.ts';
import type { ClientKind } from './as-client/client-profiles.ts';

export interface FlowTest {
  /** Plays it with these answers, every turn in a process of its own, until it ends or a question has no answer. */
  answer(answers: ScriptedAnswers): Promise<PlayResult>;
  /**
   * Plays it again and again, and lets the process die at another point each time: before and after all that it writes, and
   * around every step. Throws unless it comes to the same result every time, and no effect has more than one key.
   */
  crashEverywhere(answers: ScriptedAnswers): Promise<{ crashes: string[]; result: unknown }>;
  /** Serves it to a client of this kind, whose user gives the answers. */
  asClient(kind: ClientKind, options?: AsClientOptions): FlowClientTest;
  /** Runs it over a journal, as it was written by this version or another. Nothing is asked and no step is run. */
  replay(journal: JournalEntry[]): Promise<ReplayResult>;
}

export interface FlowClientTest {
  /** By key, fields of a form in an object. Rejects where a question has no answer, or its answer is refused. */
  answer(answers: Record<string, unknown>): Promise<PlayedAsClient>;
}

export interface ReplayResult {
  /** Where it comes to: the end, or what it waits for. */
  rest: 'ended' | 'failed' | 'asks' | 'steps' | 'save';
  result?: unknown;
  error?: unknown;
  /** Keys of what it asks or would run next. */
  open: string[];
  /** Keys of answers and results that it does not ask for. */
  unasked: string[];
  /** Keys of answers that are none any more, and why. */
  refused: Record<string, string>;
}

export interface FlowTestOptions {
  /**
   * The time of `answer`, which moves it to the end of each sleep: steps can look at it, too. `crashEverywhere` begins every play at what
   * it shows, and leaves it there. Default: a clock of its own.
   */
  clock?: ManualClock | undefined;
}

export function testFlow(flow: AnyFlow, args: Record<string, unknown> = {}, { clock }: FlowTestOptions = {}): FlowTest {
  return {
    answer: (answers) => playFlow({ flow, args, answers, clock }),
    crashEverywhere: (answers) => crashEverywhere({ flow, args, answers }, clock?.now()),
    asClient: (kind, options) => ({ answer: (answers) => playAsClient({ flow, args, answers }, kind, options) }),
    replay: (journal) => replay(flow, journal),
  };
}

async function crashEverywhere(playing: FlowPlayOptions, now: number | undefined) {
  const all = new CrashPoints();
  const whole = await playFlow({ ...playing, boundaries: all, clock: manualClock(now) });
  const { result, failure } = whole;
  const crashes: string[] = [];
  for (let at = 0; at < all.passed; at++) {
    const boundaries = new CrashPoints(at);
    const played = await playFlow({ ...playing, boundaries, clock: manualClock(now) });
    const where = boundaries.died ?? 'nowhere';
    crashes.push(where);
    if (!isDeepStrictEqual(played.result, result) || played.failure?.message !== failure?.message) {
      throw new Error(`A crash ${where} leads to ${describeResult(played)} instead of ${describeResult(whole)}`);
    }
    refuseDouble(played, whole, where);
  }
  return { crashes, result };
}

/** Ids are fixed here, so the keys of all effects are the same in every play: another one would be another effect. */
function refuseDouble({ steps }: PlayResult, whole: PlayResult, where: string): void {
  const keysOf = (seen: PlayResult['steps']) =>
    new Set(seen.flatMap((one) => (one.effect ? [one.idempotencyKey] : [])));
  const known = keysOf(whole.steps);
  for (const { key, idempotencyKey, effect } of steps) {
    if (effect && !known.has(idempotencyKey)) throw new Error(`A crash ${where} does ${key} once more`);
  }
}

function describeResult({ result, failure }: Pick<PlayResult, 'result' | 'failure'>): string {
  return failure ? `the error ${failure.message}` : JSON.stringify(result);
}

async function replay(flow: AnyFlow, journal: JournalEntry[]): Promise<ReplayResult> {
  const run = new BodyRun({ flow, folded: fold(journal), sessionId: 'session_replayed', incoming: [], now: 0 });
  const rest = await run.next();
  const wants = rest.kind === 'asks' ? [...rest.asks, ...rest.waits] : rest.kind === 'steps' ? rest.steps : [];
  return {
    ...{ rest: rest.kind, open: wants.map(({ spec }) => spec.key), unasked: run.telling.unasked },
    refused: Object.fromEntries([...run.refused].map(([key, { error }]) => [key, error])),
    ...(rest.kind === 'ended' && { result: rest.value }),
    ...(rest.kind === 'failed' && { error: rest.error }),
  };
}
