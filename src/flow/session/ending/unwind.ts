// Undoes the effects of a session that ends early. Failed undos are tried again with growing pauses, up to a limit. The session then ends
// anyway, and what is left is reported.
import { toClientHeader } from '../../header.ts';
import type { EarlyEnd, Header } from '../../journal.ts';
import { toShortId } from '../session-id.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { pause, unlessAborted } from '../../../shared/timing.ts';
import type { TurnRunner } from '../turn/turn-runner.ts';
import { toParkedPatch } from './parking.ts';
import type { SessionContext } from '../session-context.ts';
import type { Turn } from '../turn/turn.ts';
import { isHopeless, toUndoPause, undoRound } from './undo-effects.ts';
import type { Effect } from './undo-effects.ts';

/** The limit for sessions in tokens, which no process can continue after the request. */
const ATTEMPTS_IN_A_REQUEST = 3;

export interface UnwindOptions {
  effects: Effect[];
  /** Aborts when this process leaves the session to another. */
  signal: AbortSignal;
  /** Called when the session has ended for the client, though undos are left. */
  onTold: (header: Header) => void;
  end: (notUndone?: string[]) => Promise<Turn>;
}

export async function unwind(runner: TurnRunner, ending: EarlyEnd, unwinding: UnwindOptions): Promise<Turn> {
  const { commits, run } = runner;
  const { context, flow, header, host } = runner.input;
  const { effects, signal, onTold, end } = unwinding;
  const undoing = { context, flow, header, commits, signal, folded: run.input.folded };
  let left = effects;
  for (let tries = ending.tries ?? 0; ;) {
    const round = await unlessAborted(undoRound(undoing, left, tries++), signal);
    if (!round) return commits.current();
    left = round;
    if (left.length === 0) return end();
    const isOver = tries >= maxUndoAttempts(context) || left.every(isHopeless);
    if (context.lasting && left.every(({ spec }) => !spec) && (await setAside(runner, ending))) {
      onTold(commits.header);
      return commits.current();
    }
    if (isOver) break;
    const written = await commits.write({ pending: { ...ending, tries } }, []);
    if (!written) return commits.current();
    if (context.lasting) onTold(written);
    if (!(await pauseBeforeUndo(context, tries, signal))) return commits.current();
  }
  const steps = left.map(({ key }) => key);
  // A session that was given up before has been reported already.
  const isNew = ending.parked === undefined || commits.header.notUndone === undefined;
  if (isNew) context.log.error({ tool: flow.name, session: toShortId(header.id), steps }, 'flow.not-undone');
  if (await givenUp(runner, { ...ending, tries: maxUndoAttempts(context) }, left)) {
    onTold(commits.header);
    if (isNew) host.emit({ kind: 'undo-failed', header: toClientHeader(commits.header), steps });
    return commits.current();
  }
  const turn = await end(steps);
  if (isNew) host.emit({ kind: 'undo-failed', header: turn.header, steps });
  return turn;
}

/** Parks the session in a durable store, so that an operator can try again (`parley flows retry`). False: it ends now. */
async function givenUp({ input, commits }: TurnRunner, ending: EarlyEnd, left: Effect[]): Promise<boolean> {
  const { context } = input;
  if (!context.lasting || !context.store.durable || left.every(isHopeless)) return false;
  const steps = left.map(({ key }) => key);
  const reason = `effects could not be undone: ${steps.join(', ')}`;
  const before = commits.header.notUndone ? ending.parked : undefined;
  const parked = { reason, at: before?.at ?? context.clock.now() };
  const dueAt = parked.at + context.limits.parkedMs;
  if (dueAt <= context.clock.now()) return false;
  const header = await commits.write({ pending: { ...ending, parked }, notUndone: steps }, [], { dueAt });
  return header !== undefined;
}

/** Parks the session until a version that can undo its effects is served. False once that took too long. */
async function setAside({ input, commits }: TurnRunner, ending: EarlyEnd): Promise<boolean> {
  const { context, flow } = input;
  const change = 'it has no undo for effects that have begun';
  const { patch, dueAt } = toParkedPatch(
    input,
    { ...commits.header, state: 'processing', parked: ending.parked },
    new GatewayError('FLOW_CHANGED', { tool: flow.name, change }),
  );
  if (dueAt <= context.clock.now()) return false;
  context.log.error({ tool: flow.name, session: toShortId(input.header.id) }, 'flow.parked');
  if (!ending.parked) context.counts.parked(input.header);
  const header = await commits.write({ pending: { ...ending, parked: patch.parked } }, [], { dueAt });
  return header !== undefined;
}

export function maxUndoAttempts({ lasting, limits }: SessionContext): number {
  return lasting ? limits.undoAttempts : Math.min(limits.undoAttempts, ATTEMPTS_IN_A_REQUEST);
}

/** False if the signal aborts meanwhile. */
export function pauseBeforeUndo({ clock }: SessionContext, tries: number, signal?: AbortSignal): Promise<boolean> {
  return pause(clock, toUndoPause(tries), signal);
}
