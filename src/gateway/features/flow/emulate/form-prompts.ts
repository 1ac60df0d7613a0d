// Converts a server's question (`elicitation/create`) to MCP Flow prompts: one for each form field in order, or one for
// a page to visit. Secrets and files are asked in neither way.
import type { Ask } from '../../../../kernel/exchange.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { present } from '../../../../kernel/message.ts';
import { ELICIT_INPUT } from '../../../../kernel/methods.ts';
import { checkWritten } from '../../../../kernel/form/validate-answer.ts';
import { isForPageOnly, toSchemaFields } from '../../../../kernel/form/schema-field.ts';
import type { SchemaField } from '../../../../kernel/form/schema-field.ts';
import { describeProblem } from '../../../../kernel/form/answer-problem.ts';

export interface FieldPrompt {
  /** The property of the answer; undefined if yes or no answers the question itself. */
  name: string | undefined;
  prompt: JsonObject;
  check(value: unknown): { value: unknown } | { error: string };
}

/** Whether prompts can ask this question. */
export function isPromptable({ method, params = {}, page }: Ask): boolean {
  if (method !== ELICIT_INPUT || page) return false;
  return params.mode === 'url' || !isForPageOnly(params.requestedSchema);
}

export function toFormPrompts({ params = {} }: Ask): FieldPrompt[] {
  const message = String(params.message ?? '');
  if (params.mode === 'url') return [consent({ message: `${message}\n${String(params.url)}`, url: params.url })];
  const fields = toSchemaFields(params.requestedSchema);
  if (fields.length === 0) return [consent({ message })];
  return fields.map((field, index) => ({
    name: field.name,
    prompt: toPrompt(field, messageOf(field, index === 0 ? message : undefined, fields.length)),
    check: (value) => check(field, value),
  }));
}

function consent(about: JsonObject): FieldPrompt {
  const error = 'Choose yes or no.';
  return {
    name: undefined,
    prompt: { type: 'confirm', ...about, validation: { required: true } },
    check: (value) => (typeof value === 'boolean' ? { value } : { error }),
  };
}

function check(field: SchemaField, value: unknown): { value: unknown } | { error: string } {
  const checked = checkWritten(field, value);
  if (!checked) return { value: undefined };
  if ('value' in checked) return checked;
  return { error: describeProblem(checked) };
}

/** The form's message comes first; with several fields, each is named. */
function messageOf({ name, title, description }: SchemaField, message: string | undefined, count: number): string {
  const label = count > 1 || (title !== name && title !== message) ? title : undefined;
  return [message, label, description].filter((text) => text !== undefined && text !== '').join('\n');
}

function toPrompt(field: SchemaField, message: string): JsonObject {
  const { required, default: defaultValue } = field;
  const about = present({ message, defaultValue });
  const rules = (more: JsonObject = {}): JsonObject => ({ validation: present({ required, ...more }) });
  switch (field.kind) {
    case 'text':
    case 'secret': {
      const format = field.kind === 'text' ? field.format : undefined;
      if (format === 'date') return { type: 'date', ...about, ...rules() };
      const { minLength: min, maxLength: max, pattern } = field;
      return { type: 'text', ...about, ...rules({ min, max, pattern, format }) };
    }
    case 'number': {
      const { minimum: min, maximum: max, integer } = field;
      return { type: 'number', ...about, ...rules({ min, max, integer: integer || undefined }) };
    }
    case 'boolean':
      return { type: 'confirm', ...about, ...rules() };
    case 'choice':
      return { type: 'choice', ...about, choices: toChoices(field.options), ...rules() };
    case 'choices': {
      const { options, minItems, maxItems } = field;
      const items = { enum: options.map(({ value }) => value) };
      const schema = present({ type: 'array', items, minItems, maxItems });
      return { type: 'custom', ...about, choices: toChoices(options), schema, ...rules() };
    }
    default:
      return { type: 'custom', ...about, ...rules() };
  }
}

function toChoices(options: readonly { value: unknown; title: string }[]): JsonObject[] {
  return options.map(({ value, title }) => ({ value, label: title }));
}
