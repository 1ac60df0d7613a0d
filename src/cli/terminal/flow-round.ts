// Asks a round of a flow's questions on the terminal. Esc offers to go back to an earlier question, to continue or to cancel.
import * as clack from '@clack/prompts';
import type { Question } from '../../flow/question/question.ts';
import type { GivenAnswer } from '../../flow/session/verbs/requests.ts';
import type { Turn } from '../../flow/session/turn/turn.ts';
import { printable } from '../../shared/visible.ts';
import { CANCELLED, askOnTerminal, formatComplaint } from './flow-question.ts';

export type RoundResult = { answers: GivenAnswer[] } | 'back' | 'cancel' | 'late';

const BAR_WIDTH = 20;
const output = process.stderr;

export interface WithdrawSignals {
  /** Aborted when the questions are no longer open. */
  late: AbortSignal;
  /** Aborted when the command must end. */
  stop: AbortSignal;
}

/** `isFirst`: there is no earlier question. */
export async function askRound(
  { questions, progress }: Turn,
  isFirst: boolean,
  withdrawn: WithdrawSignals,
): Promise<RoundResult> {
  const signal = AbortSignal.any([withdrawn.late, withdrawn.stop]);
  if (progress) clack.log.step(barOf(progress), { output });
  const answers: GivenAnswer[] = [];
  while (answers.length < questions.length) {
    const question = questions[answers.length]!;
    tell(question);
    const value = await askOnTerminal(question, signal);
    if (signal.aborted) return toWithdrawal(withdrawn);
    if (value !== CANCELLED) {
      answers.push({ promptId: question.promptId, value });
      continue;
    }
    const wish = await whatNow(isFirst && answers.length === 0, signal);
    if (signal.aborted) return toWithdrawal(withdrawn);
    if (wish === 'cancel') return 'cancel';
    if (wish === 'back' && answers.pop() === undefined) return 'back';
  }
  return { answers };
}

function toWithdrawal({ stop }: WithdrawSignals): 'late' | 'cancel' {
  if (stop.aborted) return 'cancel';
  clack.log.warn('This was not answered in time.', { output });
  return 'late';
}

function tell({ notes = [], complaint }: Question): void {
  for (const note of notes) clack.log.info(printable(note), { output });
  if (complaint) clack.log.warn(formatComplaint(complaint)!, { output });
}

/** A second Esc cancels. */
async function whatNow(isFirst: boolean, signal: AbortSignal): Promise<'back' | 'go on' | 'cancel'> {
  const wish = await clack.select({
    message: 'What now?',
    output,
    signal,
    options: [
      ...(isFirst ? [] : [{ value: 'back' as const, label: 'Back to the question before' }]),
      { value: 'go on' as const, label: 'Continue' },
      { value: 'cancel' as const, label: 'Cancel' },
    ],
  });
  return clack.isCancel(wish) ? 'cancel' : wish;
}

function barOf({ current, total, message }: NonNullable<Turn['progress']>): string {
  const words = message === undefined ? '' : `  ${printable(message)}`;
  if (total === undefined || total <= 0) return `${current}${words}`;
  const done = Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * current) / total));
  return `${'█'.repeat(done)}${'░'.repeat(BAR_WIDTH - done)} ${current}/${total}${words}`;
}
