// Tests a flow with scripted answers: without a client, as one kind of client, with crashes everywhere, or over an old journal.
import { isDeepStrictEqual } from 'node:util';
import { checkOptionNames } from '../flow/authoring/options.ts';
import type { NamesOf } from '../flow/authoring/options.ts';
import type { AnyFlow } from '../flow/define.ts';
import type { FlowLimits } from '../flow/session/context/flow-limits.ts';
import { BodyRun } from '../flow/engine/body-run.ts';
import { fold } from '../flow/fold.ts';
import type { JournalEntry } from '../flow/journal.ts';
import { CrashPoints } from '../flow/testing/test-stage.ts';
import { manualClock } from '../flow/testing/manual-clock.ts';
import type { ManualClock } from '../flow/testing/manual-clock.ts';
import { newSessionId, playFlow } from '../flow/testing/play-flow.ts';
import type { ScriptedAnswers, PlayResult, FlowPlayOptions } from '../flow/testing/play-flow.ts';
import { playAsClient } from './as-client/play-as-client.ts';
import type { AsClientOptions, PlayedAsClient } from './as-client/play-as-client.ts';
import type { ClientKind } from './as-client/client-profiles.ts';

export interface FlowTest {
  /**
   * Plays the flow with these answers, each turn in a new process, until it ends or a question has no answer (`open`). Throws if an answer is
   * refused, or if the flow never asks for one of them.
   */
  answer(answers: ScriptedAnswers): Promise<PlayResult>;
  /**
   * Plays the flow many times and crashes the process at another point each time: before and after every write, and around every step.
   * Throws if a result differs, if an effect runs under a second idempotency key, or if an answer is missing.
   */
  crashEverywhere(answers: ScriptedAnswers): Promise<{ crashes: string[]; result: unknown }>;
  /** Serves the flow to a client of this kind, whose user gives the answers. */
  asClient(kind: ClientKind, options?: AsClientOptions): FlowClientTest;
  /** Replays a journal of this or another version. Asks nothing and runs no step. */
  replay(journal: JournalEntry[]): Promise<ReplayResult>;
}

interface FlowClientTest {
  /** Answers by key, with the fields of a form in an object. Rejects if a question has no answer, if its answer is refused, or if the flow never asks for one. */
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
  /** The limits that the flow is served with (`limits` of `serveFlows`). */
  limits?: Partial<FlowLimits> | undefined;
}

const OPTIONS: NamesOf<FlowTestOptions> = { clock: true, limits: true };

/**
 * Plays a flow without a server: with answers, as each kind of client, and with a crash at every point.
 *
 * @example
 * ```ts
 * import { flow } from 'mcp-parley/flow';
 * import { testFlow } from 'mcp-parley/testing';
 *
 * const trip = flow({ name: 'trip' }, async (ask) => `Booked: ${await ask.text('city')}`);
 * const { result } = await testFlow(trip).answer({ city: 'Oslo' });
 * await testFlow(trip).crashEverywhere({ city: 'Oslo' });
 * console.log(result);
 * ```
 */
export function testFlow(flow: AnyFlow, args: Record<string, unknown> = {}, options: FlowTestOptions = {}): FlowTest {
  checkOptionNames(options, OPTIONS, 'testFlow()');
  const { clock, limits } = options;
  return {
    answer: (answers) => playFlow({ flow, args, answers, clock, limits }),
    crashEverywhere: (answers) => crashEverywhere({ flow, args, answers, limits }, clock?.now()),
    asClient: (kind, served) => ({
      answer: (answers) => playAsClient({ flow, args, answers }, kind, { ...(limits && { limits }), ...served }),
    }),
    replay: (journal) => replay(flow, journal),
  };
}

async function crashEverywhere(options: FlowPlayOptions, now: number | undefined) {
  const playing = { ...options, sessionId: newSessionId() };
  const all = new CrashPoints();
  const whole = await playFlow({ ...playing, crashPoints: all, clock: manualClock(now) });
  const { result, failure } = whole;
  refuseUnfinished(whole);
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

/** What comes after a missing answer would not be tested. */
function refuseUnfinished({ open, waiting, failure }: PlayResult): void {
  const missing = [...open.map(({ key }) => key), ...waiting];
  if (failure || missing.length === 0) return;
  throw new Error(`There is no answer to ${missing.join(', ')}, so nothing after it is tested`);
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
