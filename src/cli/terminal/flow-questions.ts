// Asks the questions of a flow on the terminal, with arrow keys for choices, and checks answers by the rules of every channel. Writes to stderr, as
// stdout is for the result. Removes escape sequences from the texts of questions.
import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { styleText } from 'node:util';
import { ConfirmPrompt } from '@clack/core';
import * as clack from '@clack/prompts';
import { checkAnswer } from '../../flow/question/check-answer.ts';
import type { Complaint, Field, Question } from '../../flow/question/question.ts';
import type { Turn } from '../../flow/session/turn/turn.ts';
import type { GivenAnswer } from '../../flow/session/context/requests.ts';
import { printable } from '../../kernel/base/visible.ts';
import { parseTypedAnswer } from './typed-answer.ts';

export const CANCELLED = Symbol('cancelled');

const BAR_WIDTH = 20;
const output = process.stderr;

type RoundResult = { answers: GivenAnswer[] } | 'back' | 'cancel' | 'late';

interface WithdrawSignals {
  /** Aborted when the questions are no longer open. */
  late: AbortSignal;
  /** Aborted when the command must end. */
  stop: AbortSignal;
}

/** Asks a round. Esc offers to go back to an earlier question, to continue or to cancel. `isFirst`: there is no earlier question. */
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

type TerminalQuestion = Field & Partial<Pick<Question, 'secret' | 'fields'>>;

const MAX_SHOWN = 10;

/** MIME types of common files. */
const TYPES: Record<string, string> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.svg': 'image/svg+xml',
};

/** The value, or CANCELLED if the user pressed Esc. */
export async function askOnTerminal(field: TerminalQuestion, signal: AbortSignal): Promise<unknown> {
  if (field.kind !== 'form') return askOne(field, signal);
  const values: Record<string, unknown> = {};
  if (field.prompt.message) clack.log.step(printable(field.prompt.message), { output });
  for (const [name, one] of Object.entries(field.fields ?? {})) {
    const value = await askOne(one, signal);
    if (value === CANCELLED) return CANCELLED;
    if (value !== undefined) values[name] = value;
  }
  return values;
}

async function askOne(field: TerminalQuestion, signal: AbortSignal): Promise<unknown> {
  const answer = await showPrompt(field, signal);
  if (clack.isCancel(answer)) return CANCELLED;
  return typeof answer === 'string' && field.kind !== 'choice' ? toValue(field, answer) : answer;
}

function showPrompt(field: TerminalQuestion, signal: AbortSignal): Promise<unknown> {
  const { kind, prompt, secret, help } = field;
  const message = printable(help === undefined ? prompt.message : `${prompt.message} (${help})`);
  const options = (prompt.choices ?? []).map(({ value, label, hint }) => ({
    value,
    label: printable(label),
    ...(hint && { hint: printable(hint) }),
  }));
  const { defaultValue } = prompt;
  const validate = (text: string | undefined) => formatComplaint(complaintOf(field, text ?? ''));
  switch (kind) {
    case 'confirm':
      return confirm({ message, output, signal, initialValue: defaultValue === true });
    case 'choice':
      return clack.select({ message, output, signal, options, initialValue: defaultValue, maxItems: MAX_SHOWN });
    case 'choices':
      return askSeveral(field, { message, output, signal, options, maxItems: MAX_SHOWN });
    default:
      if (secret) return clack.password({ message, output, signal, validate });
      return clack.text({
        message: kind === 'file' ? `${message} (path of a file)` : message,
        output,
        signal,
        validate,
        ...(defaultValue !== undefined && { initialValue: printable(toText(defaultValue)) }),
        ...(prompt.placeholder !== undefined && { placeholder: printable(prompt.placeholder) }),
      });
  }
}

/** The multiple-choice prompt of clack has no validation. */
async function askSeveral(field: TerminalQuestion, options: clack.MultiSelectOptions<unknown>): Promise<unknown> {
  const { defaultValue } = field.prompt;
  let initialValues = Array.isArray(defaultValue) ? (defaultValue as unknown[]) : [];
  for (;;) {
    const chosen = await clack.multiselect({ ...options, initialValues, required: false });
    const checked = clack.isCancel(chosen) ? undefined : checkAnswer(chosen, field);
    if (!checked || !('complaint' in checked)) return chosen;
    clack.log.warn(formatComplaint(checked.complaint)!, { output });
    initialValues = chosen as unknown[];
  }
}

function complaintOf(field: TerminalQuestion, text: string): Complaint | undefined {
  try {
    const checked = checkAnswer(toValue(field, text), field);
    return 'complaint' in checked ? checked.complaint : undefined;
  } catch (thrown) {
    return { error: (thrown as Error).message };
  }
}

/** Parses typed text into a value of the question's kind. */
function toValue(field: TerminalQuestion, text: string): unknown {
  if (field.kind !== 'file') return parseTypedAnswer(field, text);
  return text === '' ? undefined : toFile(text, field.prompt.validation?.maxBytes);
}

function toFile(path: string, maxBytes = Infinity): unknown {
  const { size } = statSync(path);
  if (size > maxBytes) throw new Error(`Must have at most ${maxBytes} bytes`);
  return {
    name: basename(path),
    mimeType: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
    data: readFileSync(path).toString('base64'),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function formatComplaint(complaint: Complaint | undefined): string | undefined {
  if (!complaint) return undefined;
  const { error, suggestion } = complaint;
  return printable(suggestion === undefined ? error : `${error}. ${suggestion}`);
}

interface ConfirmOptions extends Required<Pick<clack.CommonOptions, 'output' | 'signal'>> {
  message: string;
  initialValue: boolean;
}

const [YES, NO] = ['Yes', 'No'];

/**
 * A yes/no prompt like that of clack, except after a cancel: clack shows the answer that nobody gave, struck through, which many terminals show as
 * plain text. Resolves with clack's cancel symbol if the user cancels.
 */
function confirm({ message, ...options }: ConfirmOptions): Promise<boolean | symbol | undefined> {
  const bar = styleText('gray', clack.S_BAR);
  const open = styleText('cyan', clack.S_BAR);
  return new ConfirmPrompt({
    active: YES,
    inactive: NO,
    ...options,
    render() {
      const { state, value } = this;
      const title = message.split('\n').join(`\n${bar}  `);
      const head = `${bar}\n${clack.symbol(state)}  ${title}\n`;
      if (state === 'cancel') return `${head}${bar}  ${styleText('dim', 'Not answered')}\n${bar}`;
      if (state === 'submit') return `${head}${bar}  ${styleText('dim', value ? YES : NO)}`;
      return `${head}${open}  ${choice(YES, value === true)} ${styleText('dim', '/')} ${choice(NO, value !== true)}\n${styleText('cyan', clack.S_BAR_END)}\n`;
    },
  }).prompt();
}

function choice(label: string, isChosen: boolean): string {
  if (isChosen) return `${styleText('green', clack.S_RADIO_ACTIVE)} ${label}`;
  return `${styleText('dim', clack.S_RADIO_INACTIVE)} ${styleText('dim', label)}`;
}
