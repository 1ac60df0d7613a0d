// Asks one question of a flow on the terminal, with arrow keys for choices, and checks the answer by the rules of every channel. Writes to
// stderr, as stdout is for the result. Removes escape sequences from the texts of questions.
import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import * as clack from '@clack/prompts';
import { checkAnswer } from '../../flow/question/check-answer.ts';
import type { Complaint, Field, Question } from '../../flow/question/question.ts';
import { printable } from '../../shared/visible.ts';
import { confirm } from './confirm.ts';
import { parseTypedAnswer } from './typed-answer.ts';

export const CANCELLED = Symbol('cancelled');

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
  if (field.prompt.message) clack.log.step(printable(field.prompt.message), { output: process.stderr });
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
  const output = process.stderr;
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
    clack.log.warn(formatComplaint(checked.complaint)!, { output: process.stderr });
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

export function formatComplaint(complaint: Complaint | undefined): string | undefined {
  if (!complaint) return undefined;
  const { error, suggestion } = complaint;
  return printable(suggestion === undefined ? error : `${error}. ${suggestion}`);
}
