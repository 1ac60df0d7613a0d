// A function that has changed under an open session so that it cannot go on: what was a step is now a question, or the other way round; an
// effect that was done is not asked for any more; it fails where the version before it went on. What has been done cannot be taken for
// something else: such a turn fails, and the session is kept for a version that knows it.
import type { AnyFlow } from '../define.ts';
import type { FoldedJournal, ReplayEntry } from '../fold.ts';
import { PREFILLED } from '../journal.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { IncomingAnswer } from './match-answer.ts';
import type { IncomingEvent } from './match-event.ts';
import type { BodyRun } from './body-run.ts';
import type { AskSpec, PendingStep } from './pending-ask.ts';

interface Failed {
  kind: 'failed';
  error: GatewayError;
}

/** A sleep is written down like a step. */
const TOLD = { ans: 'a question', in: 'a question', step: 'a step', evt: 'an event', arr: 'an event' };
const ASKED: Partial<Record<AskSpec['kind'], string>> = { step: 'a step', sleep: 'a step', event: 'an event' };

export function checkKind(
  flow: AnyFlow,
  told: ReplayEntry | IncomingAnswer | IncomingEvent,
  { kind }: AskSpec,
): Failed | undefined {
  const [was, is] = [TOLD[told.t], ASKED[kind] ?? 'a question'];
  if (was === is || flow.options.onMismatch === 'reask') return undefined;
  // An argument that is called like a step is only an argument.
  if (told.t === 'ans' && told.ty === PREFILLED) return undefined;
  return toFailed(flow, `${told.k} was ${was} and is ${is} now`);
}

const NONE: readonly string[] = [];

/** Effects that have begun, and that the body has not come by. */
export function findLostEffects(
  { intents, end }: FoldedJournal,
  asked: { has(key: string): boolean },
): readonly string[] {
  // A session that ends takes them back, or says that it cannot.
  if (intents.size === 0 || end !== undefined) return NONE;
  return [...intents].flatMap(([key, { entry }]) => (entry.sleep || asked.has(key) ? [] : [key]));
}

/** `instead` are steps that it asks for and that have not begun: one of them may be the old one under another name. */
export function refuseLost(flow: AnyFlow, lost: readonly string[], instead: PendingStep[] = []): Failed | undefined {
  if (lost.length === 0 || flow.options.onMismatch === 'reask') return undefined;
  const effects = instead.flatMap(({ spec }) => (spec.options.effect ? [spec.key] : []));
  const isOne = lost.length === 1;
  const gone = `the effect${isOne ? '' : 's'} ${lost.join(', ')} ${isOne ? 'has' : 'have'} begun before and ${isOne ? 'is' : 'are'} not asked for any more`;
  if (effects.length === 0) return toFailed(flow, gone);
  const hint =
    isOne && effects.length === 1 ? ` (renamed? migrate: { renamed: { '${lost[0]!}': '${effects[0]!}' } })` : '';
  return toFailed(flow, `${gone}, and ${effects.join(', ')} would be done instead${hint}`);
}

/** Told something that came after an effect, though the body has not come by the effect: it has gone another way. */
export function checkPassedEffects(
  run: BodyRun,
  told: ReplayEntry | IncomingAnswer | IncomingEvent,
): Failed | undefined {
  const { flow, folded, unasked = [] } = run.input;
  // Events come when they come.
  if (folded.intents.size === 0 || told.t === 'evt' || told.t === 'arr') return undefined;
  if (told.t !== 'in' && told.early) return undefined;
  const before = new Set(run.telling.unasked);
  const passed = run.lost.filter((key) => before.has(key) && !(told.t === 'in' && unasked.includes(key)));
  return refuseLost(flow, passed);
}

/** An effect that nobody asks for any more must not be done again under another name, nor be forgotten. */
export function checkLostEffects({ input: { flow, folded }, lost }: BodyRun, steps: PendingStep[]): Failed | undefined {
  const isNew = ({ spec }: PendingStep) => spec.options.effect !== undefined && !folded.intents.has(spec.key);
  if (steps.length > 0 && !steps.some(isNew)) return undefined;
  return refuseLost(flow, lost, steps.filter(isNew));
}

/** It throws where an earlier version went on, or as only a mistake in a program does. */
export function toBrokenVersion(flow: AnyFlow, error: unknown, isReplaying: boolean): GatewayError | undefined {
  if (error instanceof GatewayError || !(isReplaying || isProgramError(error))) return undefined;
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return toFailed(flow, `this version fails where the one before went on (${words})`, error).error;
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
