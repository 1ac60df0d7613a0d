// Tests a flow with scripted answers: without a client, as one kind of client, with crashes everywhere, or over an old journal.
import { isDeepStrictEqual } from 'node:util';
import type { AnyFlow } from '../flow/define.ts';
import { BodyRun } from '../flow/engine/body-run.ts';
import { fold } from '../flow/fold.ts';
import type { JournalEntry } from '../flow/journal.ts';
import { CrashPoints } from '../flow/testing/test-stage.ts';
import { manualClock } from '../flow/testing/manual-clock.ts';
import type { ManualClock } from '../flow/testing/manual-clock.ts';
import { playFlow } from '../flow/testing/play-flow.ts';
import type { ScriptedAnswers, PlayResult, FlowPlayOptions } from '../flow/testing/play-flow.ts';
import { playAsClient } from './as-client/play-as-client.ts';
import type { AsClientOptions, PlayedAsClient } from './as-client/play-as-client.ts';
import type { ClientKind } from './as-client/client-profiles.ts';

export interface FlowTest {
  /** Plays the flow with these answers, each turn in a new process, until it ends or a question has no answer. */
  answer(answers: ScriptedAnswers): Promise<PlayResult>;
  /**
   * Plays the flow many times and crashes the process at another point each time: before and after every write, and around every step.
   * Throws if a result differs, or if an effect runs under a second idempotency key.
   */
  crashEverywhere(answers: ScriptedAnswers): Promise<{ crashes: string[]; result: unknown }>;
  /** Serves the flow to a client of this kind, whose user gives the answers. */
  asClient(kind: ClientKind, options?: AsClientOptions): FlowClientTest;
  /** Replays a journal of this or another version. Asks nothing and runs no step. */
  replay(journal: JournalEntry[]): Promise<ReplayResult>;
}

interface FlowClientTest {
  /** Answers by key, with the fields of a form in an object. Rejects if a question has no answer, or its answer is refused. */
  answer(answers: Record<string, unknown>): Promise<PlayedAsClient>;
}

interface ReplayResult {
  /** Where the replay ends: at the end of the flow, or at what it waits for. */
  rest: 'ended' | 'failed' | 'asks' | 'steps' | 'save';
  result?: unknown;
  error?: unknown;
  /** Keys of the questions or steps that come next. */
  open: string[];
  /** Keys of recorded answers and results that the flow did not ask for. */
  unasked: string[];
  /** Keys of answers that are no longer valid, with the reason. */
  refused: Record<string, string>;
}

interface FlowTestOptions {
  /**
   * The clock of `answer`, which moves it past each sleep; steps can read it, too. `crashEverywhere` starts every play at its time and does
   * not move it. Default: a new clock.
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
  const whole = await playFlow({ ...playing, crashPoints: all, clock: manualClock(now) });
  const { result, failure } = whole;
  const crashes: string[] = [];
  for (let at = 0; at < all.passed; at++) {
    const crashPoints = new CrashPoints(at);
    const played = await playFlow({ ...playing, crashPoints, clock: manualClock(now) });
    const where = crashPoints.died ?? 'nowhere';
    crashes.push(where);
    if (!isDeepStrictEqual(played.result, result) || played.failure?.message !== failure?.message) {
      throw new Error(`A crash ${where} leads to ${describeResult(played)} instead of ${describeResult(whole)}`);
    }
    refuseDouble(played, whole, where);
  }
  return { crashes, result };
}

/** Ids are fixed, so every play has the same idempotency keys; another key would be another effect. */
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
  const run = new BodyRun({ flow, folded: fold(journal), sessionId: 'session_replayed' }, { now: 0 });
  const rest = await run.next();
  const wants = rest.kind === 'asks' ? [...rest.asks, ...rest.waits] : rest.kind === 'steps' ? rest.steps : [];
  return {
    rest: rest.kind,
    open: wants.map(({ spec }) => spec.key),
    unasked: run.replayQueue.unasked,
    refused: Object.fromEntries([...run.refused].map(([key, { error }]) => [key, error])),
    ...(rest.kind === 'ended' && { result: rest.value }),
    ...(rest.kind === 'failed' && { error: rest.error }),
  };
}
