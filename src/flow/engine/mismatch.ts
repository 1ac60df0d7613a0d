// Detects a new version that cannot continue an open session: a step became a question or the reverse, an effect that has begun is no longer
// run, or the body fails where the version before continued. Such a turn fails, and the session is parked for a version that fits.
import type { AnyFlow } from '../define.ts';
import type { ReplayEntry } from '../fold.ts';
import { PREFILLED } from '../journal.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { readThrown } from './author-code.ts';
import type { IncomingAnswer, IncomingEvent } from './run-input.ts';
import type { CurrentRun } from './current-run.ts';
import { isMisuse } from './misuse.ts';
import { JOURNAL_KINDS, toJournalKind } from './pending-ask.ts';
import type { AskSpec, PendingStep } from './pending-ask.ts';

interface Failed {
  kind: 'failed';
  error: GatewayError;
}

export function checkKind(
  flow: AnyFlow,
  told: ReplayEntry | IncomingAnswer | IncomingEvent,
  spec: AskSpec,
): Failed | undefined {
  const [was, is] = [JOURNAL_KINDS[told.t], toJournalKind(spec)];
  if (was === is || flow.options.onMismatch === 'reask') return undefined;
  // An argument with the key of a step is only an argument.
  if (told.t === 'ans' && told.ty === PREFILLED) return undefined;
  return toFailed(flow, `${told.k} was ${was} and is ${is} now`);
}

export const NO_EFFECTS: readonly string[] = [];

/** Effects that have begun, but that this run of the body has not reached. A session that ends undoes them, or reports that it cannot. */
export function findLostEffects({ input: { folded }, steps }: CurrentRun): readonly string[] {
  if (folded.end !== undefined) return NO_EFFECTS;
  return [...folded.intents].flatMap(([key, { entry }]) => (entry.sleep || steps.has(key) ? [] : [key]));
}

/** `instead`: new steps of the body, one of which may be the lost effect under another key. */
export function refuseLost(flow: AnyFlow, lost: readonly string[], instead: PendingStep[] = []): Failed | undefined {
  if (lost.length === 0 || flow.options.onMismatch === 'reask') return undefined;
  const effects = instead.flatMap(({ spec }) => (spec.options.effect ? [spec.key] : []));
  const isOne = lost.length === 1;
  const gone = `the effect${isOne ? '' : 's'} ${lost.join(', ')} ${isOne ? 'has' : 'have'} begun, but ${isOne ? 'is' : 'are'} no longer called`;
  if (effects.length === 0) return toFailed(flow, gone);
  const hint =
    isOne && effects.length === 1 ? ` (renamed? migrate: { renamed: { '${lost[0]!}': '${effects[0]!}' } })` : '';
  return toFailed(flow, `${gone}, and ${effects.join(', ')} would be done instead${hint}`);
}

/** Fails if an entry was written after an effect that the body has not reached: the body took another path. */
export function checkPassedEffects(
  run: CurrentRun,
  told: ReplayEntry | IncomingAnswer | IncomingEvent,
): Failed | undefined {
  const { flow, folded } = run.input;
  const { unasked = [] } = run.turn;
  // Events can arrive at any time.
  if (folded.intents.size === 0 || told.t === 'evt' || told.t === 'arr') return undefined;
  if (told.t !== 'in' && told.early) return undefined;
  const before = new Set(run.replayQueue.unasked);
  const passed = run.lost.filter((key) => before.has(key) && !(told.t === 'in' && unasked.includes(key)));
  return refuseLost(flow, passed);
}

/** A lost effect must not run again under another key, nor be forgotten. */
export function checkLostEffects(run: CurrentRun, steps: PendingStep[]): Failed | undefined {
  const { flow, folded } = run.input;
  const isNew = ({ spec }: PendingStep) => spec.options.effect !== undefined && !folded.intents.has(spec.key);
  if (steps.length > 0 && !steps.some(isNew)) return undefined;
  return refuseLost(flow, run.lost, steps.filter(isNew));
}

/** Defined if a new version throws where an earlier one continued, or makes a mistake. */
export function toBrokenVersion(flow: AnyFlow, error: unknown, isReplaying: boolean): GatewayError | undefined {
  if (error instanceof GatewayError ? !isMisuse(error) : !(isReplaying || isProgramError(error))) return undefined;
  const { name, message } = readThrown(error);
  const words = isMisuse(error) ? message : `${name}: ${message}`;
  return toFailed(flow, `this version fails where the one before continued (${words})`, error).error;
}

export function isMismatch(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'FLOW_CHANGED';
}

function isProgramError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError;
}

function toFailed({ name: tool }: AnyFlow, change: string, cause?: unknown): Failed {
  return { kind: 'failed', error: new GatewayError('FLOW_CHANGED', { tool, change }, { cause }) };
}
