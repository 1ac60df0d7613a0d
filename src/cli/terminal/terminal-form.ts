// Answers elicitation requests of a tool on the terminal: forms field by field, links by asking the user to open them. With `yes`, takes
// defaults and agrees wherever no input is required. What only a person may answer is asked on a real terminal, `yes` or not: a model may have
// written the command line, or what comes through a pipe.
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import type { AskContext } from '../../sdk/client/types.ts';
import { ENGLISH, describeProblem } from '../../kernel/form/answer-problem.ts';
import type { CheckedValue } from '../../kernel/form/answer-problem.ts';
import { UNASKED_CANCEL } from '../../kernel/form/human-marks.ts';
import { findOption, toSchemaFields } from '../../kernel/form/schema-field.ts';
import type { FieldOption, SchemaField } from '../../kernel/form/schema-field.ts';
import { checkWritten } from '../../kernel/form/validate-answer.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Terminal } from './terminal.ts';

type Content = NonNullable<ElicitResult['content']>;
type Answer = { value: unknown } | { end: 'decline' | 'cancel' };

interface FormContext {
  terminal: Terminal;
  yes: boolean;
  signal: AbortSignal;
}

const DECLINE = /^:(no|decline|q|quit)$/i;
const HOW = '(an empty line takes the value in brackets; ":no" declines)';

interface TerminalFormOptions {
  yes: boolean;
  tool: string;
  /** Called for a question that nobody here may answer. It is cancelled, so that its call does not wait at the gateway. */
  onRefused: (error: GatewayError) => void;
}

export function createTerminalForm(
  terminal: Terminal,
  { yes, tool, onRefused }: TerminalFormOptions,
): (request: ElicitRequestParams, context: AskContext) => Promise<ElicitResult> {
  return async (request, { signal, human = false }) => {
    if (human && !terminal.hasPerson) {
      onRefused(new GatewayError('NO_TERMINAL'));
      return UNASKED_CANCEL;
    }
    const asking = { terminal, yes: yes && !human, signal };
    // The question may come from the server or from an approval step; the client cannot tell.
    terminal.say(`${tool} needs your answer: ${request.message}`);
    if (request.mode === 'url') return openLink(request.url, asking);
    const fields = toSchemaFields(request.requestedSchema);
    return fields.length === 0 ? confirm(asking) : fillIn(fields, asking);
  };
}

async function fillIn(fields: SchemaField[], asking: FormContext): Promise<ElicitResult> {
  if (fields.some((field) => !isAgreed(field, asking))) asking.terminal.say(HOW);
  const content: Content = {};
  for (const field of fields) {
    const answer = isAgreed(field, asking) ? { value: agreed(field) } : await askField(field, asking);
    if ('end' in answer) return { action: answer.end };
    if (answer.value !== undefined) content[field.name] = answer.value as Content[string];
  }
  return { action: 'accept', content };
}

/** Whether `yes` can fill in the field. */
function isAgreed(field: SchemaField, { yes }: FormContext): boolean {
  return yes && (agreed(field) !== undefined || !field.required);
}

function agreed({ default: preset, kind, required }: SchemaField): unknown {
  return preset ?? (kind === 'boolean' && required ? true : undefined);
}

async function askField(field: SchemaField, { terminal, signal }: FormContext): Promise<Answer> {
  const { required, default: preset } = field;
  optionsOf(field).forEach(({ title }, index) => terminal.say(`  ${index + 1}) ${title}`));
  for (;;) {
    const typed = await terminal.ask(promptOf(field), signal);
    if (typed === undefined) return { end: 'cancel' };
    if (DECLINE.test(typed.trim())) return { end: 'decline' };
    if (typed.trim() === '' && (preset !== undefined || !required)) return { value: preset };
    const read = readField(field, typed);
    if ('value' in read) return read;
    terminal.say(`  ${read.problem}`);
  }
}

function promptOf(field: SchemaField): string {
  const { title, description, kind, default: preset, required } = field;
  const how = kind === 'boolean' ? ' y/n' : kind === 'choices' ? ' several, with commas' : '';
  const label = `${title}${description === undefined ? '' : ` (${description})`}${how}`;
  const ended = (line: string): string => (line.endsWith('?') ? `${line} ` : `${line}: `);
  if (preset === undefined) return ended(`${label}${required ? '' : ' [none]'}`);
  const titleOf = (value: unknown): string =>
    optionsOf(field).find((one) => one.value === value)?.title ?? String(value);
  const shown = kind === 'boolean' ? (preset === true ? 'y' : 'n') : [preset].flat().map(titleOf).join(', ');
  return ended(`${label} [${shown}]`);
}

function optionsOf(field: SchemaField): readonly FieldOption[] {
  return 'options' in field ? field.options : [];
}

/** A form without fields is a yes/no question. */
async function confirm({ terminal, yes, signal }: FormContext): Promise<ElicitResult> {
  const typed = yes ? 'y' : await terminal.ask('Agree? y/n: ', signal);
  if (typed === undefined) return { action: 'cancel' };
  return /^(y|yes)$/i.test(typed.trim()) ? { action: 'accept', content: {} } : { action: 'decline' };
}

/** Never opens the link itself, not even with `yes`: the user must judge where it leads. */
async function openLink(url: string, { terminal, signal }: FormContext): Promise<ElicitResult> {
  terminal.say(`  ${url}`);
  const typed = await terminal.ask('Open it in your browser, then press Enter (":no" declines): ', signal);
  if (typed === undefined) return { action: 'cancel' };
  return { action: DECLINE.test(typed.trim()) ? 'decline' : 'accept' };
}

type FieldInput = { value: unknown } | { problem: string };

/** The value of a typed line, or what is wrong with it. */
function readField(field: SchemaField, typed: string): FieldInput {
  const meant = readTyped(field, typed.trim());
  const checked = 'code' in meant ? meant : (checkWritten(field, meant.value) ?? { value: undefined });
  if ('value' in checked) return checked;
  const sentences = { ...ENGLISH, boolean: 'Type y or n.', choice: howToChoose(field) };
  return { problem: describeProblem(checked, sentences) };
}

/** What only a terminal has: one letter for yes and no, options by their number, commas between several. */
function readTyped(field: SchemaField, text: string): CheckedValue {
  switch (field.kind) {
    case 'boolean':
      return { value: /^[y1]$/i.test(text) ? true : /^[n0]$/i.test(text) ? false : text };
    case 'choice':
      return { value: toOption(field.options, text) };
    case 'choices': {
      const parts = text.split(',').flatMap((part) => part.trim() || []);
      return { value: parts.map((part) => toOption(field.options, part)) };
    }
    case 'json':
      return readJson(text);
    default:
      return { value: text };
  }
}

function toOption(options: readonly FieldOption[], text: string): unknown {
  const numbered = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined;
  return (findOption(options, text) ?? numbered)?.value ?? text;
}

function readJson(text: string): CheckedValue {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { code: 'json' };
  }
}

function howToChoose(field: SchemaField): string {
  const numbers = `Type a number from 1 to ${'options' in field ? field.options.length : 0}`;
  return field.kind === 'choices' ? `${numbers}, or several with commas between.` : `${numbers}.`;
}
