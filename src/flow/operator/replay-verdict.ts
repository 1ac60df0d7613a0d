// Predicts what a version of a flow would do with an open session at its next turn. It replays the journal without starting steps or
// writing.
import type { AnyFlow } from '../define.ts';
import { isMismatch, toBrokenVersion, refuseLost } from '../engine/mismatch.ts';
import type { RunState } from '../engine/pending-ask.ts';
import { BodyRun } from '../engine/body-run.ts';
import { fold } from '../fold.ts';
import { earlyEndOf, endReason } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import { migrateJournal } from '../session/values/load-session.ts';
import { buildQuestions } from '../engine/build-questions.ts';
import { findUndoable } from '../session/turn/undo-effects.ts';
import type { StoredSession } from '../store/store.ts';

/** `changes`: it continues, but asks or does something else. `parks` and `fails`: it does not continue. */
export interface ReplayVerdict {
  kind: 'ok' | 'changes' | 'parks' | 'fails';
  words: string;
}

interface Replayed {
  flow: AnyFlow;
  header: Header;
  run: BodyRun;
  /** Undefined if the body waits for something that is neither a question nor a step. */
  rest: RunState | undefined;
}

/** A body that keeps asking after its end is abandoned. */
const MAX_REFUSED = 10;

/** `stored` has its sealed arguments opened. */
export async function replayVerdict(flow: AnyFlow, stored: StoredSession): Promise<ReplayVerdict> {
  const { header, entries } = migrateJournal(stored, flow);
  const folded = fold(entries);
  const ending = earlyEndOf(header);
  if (ending) folded.end ??= endReason(ending);
  const { id: sessionId, locale, lastActivityAt: now, unasked } = header;
  const run = new BodyRun({ flow, folded, sessionId, locale }, { now, checks: 'off', unasked });
  // What the session waits for comes with its next turn, so `ask.version` sees a replay up to there.
  if (!ending) run.replayQueue.expect(awaitedKeys(header));
  const rest = await run.nextUnlessStalled();
  if (!ending) return ofOpen({ flow, header, run, rest });
  let last = rest;
  for (let tries = 0; last?.kind === 'asks' && tries < MAX_REFUSED; tries++) last = await run.nextUnlessStalled();
  return ofEnding({ flow, header, run, rest: last });
}

/** Its effects are undone, if this version can. */
function ofEnding({ flow, run, rest }: Replayed): ReplayVerdict {
  if (rest?.kind === 'failed' && isMismatch(rest.error)) return { kind: 'parks', words: rest.error.message };
  const effects = findUndoable(run, new Set());
  const unknown = effects.flatMap(({ key, spec }) => (spec ? [] : [key]));
  if (unknown.length === 0)
    return { kind: 'ok', words: `undoes ${effects.map(({ key }) => key).join(', ') || 'nothing'}` };
  return { kind: 'parks', words: `${flow.name} has no undo for ${unknown.join(', ')}` };
}

function ofOpen(replayed: Replayed): ReplayVerdict {
  const { header, rest } = replayed;
  const isWaiting = header.state === 'waiting_user';
  if (!rest) return { kind: 'fails', words: 'waits for something that is neither a question nor a step' };
  if (rest.kind === 'asks') return ofAsks(replayed, rest);
  if (rest.kind === 'failed') return ofFailed(replayed, rest.error);
  if (rest.kind === 'ended')
    return isWaiting
      ? { kind: 'changes', words: `ends without asking ${keysOf(header)}` }
      : { kind: 'ok', words: 'ends' };
  const steps = rest.kind === 'steps' ? rest.steps.map(({ spec }) => spec.key).join(', ') : '';
  const asksMeanwhile = rest.kind === 'steps' && rest.asks.some(({ spec }) => isOpen(header, spec.key));
  if (isWaiting && !asksMeanwhile) {
    return { kind: 'changes', words: `runs the step ${steps} before it asks ${keysOf(header)}` };
  }
  return { kind: 'ok', words: `continues with the step ${steps}` };
}

function ofFailed({ flow, header }: Replayed, error: unknown): ReplayVerdict {
  if (isMismatch(error)) return { kind: 'parks', words: changeOf(error) };
  // A session that waits for an answer got past this point before.
  const isReplaying = header.state === 'waiting_user';
  const broken = header.version === flow.version ? undefined : toBrokenVersion(flow, error, isReplaying);
  if (broken) return { kind: 'parks', words: changeOf(broken) };
  return { kind: 'fails', words: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

function ofAsks(replayed: Replayed, { asks, waits }: Extract<RunState, { kind: 'asks' }>): ReplayVerdict {
  const { flow, header, run } = replayed;
  const asked = buildQuestions(run, asks, new Map());
  const lost =
    header.state === 'waiting_user' &&
    asks.some(({ spec }) => isOpen(header, spec.key)) &&
    refuseLost(flow, passedBy(run, header));
  if (lost) return { kind: 'parks', words: changeOf(lost.error) };
  const changes = changesOf(header, asked);
  // It is parked only if it ends without reaching them.
  if (run.lost.length > 0)
    changes.push(`${asked.map(({ key }) => key).join(', ')} before it reaches ${run.lost.join(', ')}, which has begun`);
  if (changes.length > 0) return { kind: 'changes', words: `asks ${changes.join(', ')}` };
  const parts = [
    ...(asked.length > 0 ? [`asks ${asked.map(({ key }) => key).join(', ')}`] : []),
    ...(waits.length > 0 ? [`waits for ${waits.map(({ spec }) => spec.key).join(', ')}`] : []),
  ];
  return { kind: 'ok', words: parts.join(' and ') };
}

function changesOf(header: Header, asked: Question[]): string[] {
  if (header.state !== 'waiting_user' && !header.waits) return [];
  const before = new Map((header.current as Question[]).map((question) => [question.key, question]));
  const fresh = asked.filter(({ key }) => !before.has(key));
  if (fresh.length > 0) {
    const awaited = header.state === 'waiting_user' ? keysOf(header) : awaitedKeys(header).join(', ');
    return [`${fresh.map(({ key }) => key).join(', ')} before ${awaited}`];
  }
  const reworded = asked.filter(({ key, pin }) => before.get(key)?.pin !== undefined && before.get(key)!.pin !== pin);
  return reworded.map(({ key, prompt }) => `${key} in other words: ${prompt.message}`);
}

function isOpen({ current }: Header, key: string): boolean {
  return (current as Question[]).some((question) => question.key === key);
}

/** Effects before the open question that this version no longer reaches, so that the answer would be refused. */
function passedBy({ lost, replayQueue }: BodyRun, { unasked = [] }: Header): string[] {
  const kept = new Set(replayQueue.unasked);
  return lost.filter((key) => kept.has(key) && !unasked.includes(key));
}

/** The questions, sleeps and events that it waits for. */
function awaitedKeys({ current, waits = [] }: Header): string[] {
  return [...(current as Question[]), ...waits].map(({ key }) => key);
}

function keysOf({ current }: Header): string {
  return (current as Question[]).map(({ key }) => key).join(', ');
}

/** Without the name of the flow, which is shown besides. */
function changeOf({ details, message }: { details: Record<string, unknown>; message: string }): string {
  return typeof details['change'] === 'string' ? details['change'] : message;
}
