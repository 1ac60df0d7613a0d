// One question of a flow on the terminal, with arrow keys where there are options. What is wrong with an answer is said in place,
// by the same rules that every channel has. On stderr: stdout has the result alone. Words of questions may come from anywhere, and are
// made harmless for the terminal.
import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import * as clack from '@clack/prompts';
import { checkAnswer } from '../../flow/question/check-answer.ts';
import type { Complaint, Field, Question } from '../../flow/question/question.ts';
import { printable } from '../../shared/visible.ts';
import { confirm } from './confirm.ts';

export const CANCELLED = Symbol('cancelled');

type TerminalQuestion = Field & Partial<Pick<Question, 'secret' | 'fields'>>;

const MAX_SHOWN = 10;

/** Of the files that people are asked for. */
const TYPES: Record<string, string> = {
  ...{ '.txt': 'text/plain', '.md': 'text/markdown', '.csv': 'text/csv', '.html': 'text/html' },
  ...{ '.json': 'application/json', '.pdf': 'application/pdf', '.zip': 'application/zip' },
  ...{ '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif', '.svg': 'image/svg+xml' },
};

/** Its value, or CANCELLED where the user pressed Esc. */
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
    ...{ value, label: printable(label) },
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
        ...{ message: kind === 'file' ? `${message} (path of a file)` : message, output, signal, validate },
        ...(defaultValue !== undefined && { initialValue: printable(toText(defaultValue)) }),
        ...(prompt.placeholder !== undefined && { placeholder: printable(prompt.placeholder) }),
      });
  }
}

/** The prompt knows no rules of its own for several. */
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

/** What was typed, as what the question is for. */
function toValue({ kind, prompt }: TerminalQuestion, text: string): unknown {
  if (text === '') return undefined;
  if (kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (kind === 'file') return toFile(text, prompt.validation?.maxBytes);
  return kind === 'custom' ? toJson(text) : text;
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

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function formatComplaint(complaint: Complaint | undefined): string | undefined {
  if (!complaint) return undefined;
  const { error, suggestion } = complaint;
  return printable(suggestion === undefined ? error : `${error}. ${suggestion}`);
}
