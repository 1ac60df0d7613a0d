// A prompt of MCP Flow 0.1.0 (docs/flow-protocol.md) on the wire, and how it is read. Errors name the path.
import { isObject, readObject, readOptionalObject, readOptionalString, readString, toInvalid } from '../message.ts';
import type { JsonObject } from '../message.ts';

/** The seven types of MCP Flow. */
export const PromptType = {
  TEXT: 'text',
  CHOICE: 'choice',
  CONFIRM: 'confirm',
  NUMBER: 'number',
  DATE: 'date',
  FILE: 'file',
  CUSTOM: 'custom',
} as const;
export type PromptType = (typeof PromptType)[keyof typeof PromptType];

export interface Choice {
  value: unknown;
  label: string;
  hint?: string | undefined;
}

/** Rules that a client can check itself. `min` and `max` are lengths, values, counts or dates. */
export interface Validation {
  required?: boolean | undefined;
  pattern?: string | undefined;
  min?: number | string | undefined;
  max?: number | string | undefined;
  format?: 'email' | 'uri' | undefined;
  integer?: boolean | undefined;
  maxBytes?: number | undefined;
  accept?: string[] | undefined;
}

/** MCP Flow's prompt object; only `schema` is our addition. */
export interface Prompt {
  type: PromptType;
  message: string;
  placeholder?: string | undefined;
  defaultValue?: unknown;
  choices?: Choice[] | undefined;
  validation?: Validation | undefined;
  /** The JSON Schema of a custom answer. */
  schema?: JsonObject | undefined;
}

export interface PromptStep {
  current: number;
  total?: number | undefined;
  message?: string | undefined;
}

const TYPES: ReadonlySet<string> = new Set(Object.values(PromptType));

const RULES: Record<keyof Validation, (value: unknown) => boolean> = {
  required: isBoolean,
  pattern: isText,
  min: isBound,
  max: isBound,
  format: isText,
  integer: isBoolean,
  maxBytes: isNumber,
  accept: (value) => Array.isArray(value) && value.every(isText),
};

export function readOptionalPrompt(params: JsonObject, name: string): Prompt | undefined {
  const prompt = readOptionalObject(params, name);
  if (!prompt) return undefined;
  const type = readString(prompt, 'type', `${name}.type`);
  if (!TYPES.has(type)) throw toInvalid(`${name}.type`, `Must be one of ${[...TYPES].join(', ')}`);
  readString(prompt, 'message', `${name}.message`);
  readOptionalString(prompt, 'placeholder', `${name}.placeholder`);
  readOptionalObject(prompt, 'schema', `${name}.schema`);
  const { choices } = prompt;
  const areChoices =
    Array.isArray(choices) && choices.every((one) => isObject(one) && isText(one.label) && 'value' in one);
  if (choices !== undefined && !areChoices) {
    throw toInvalid(`${name}.choices`, 'Must be a list of objects with a value and a label');
  }
  checkRules(readOptionalObject(prompt, 'validation', `${name}.validation`) ?? {}, `${name}.validation`);
  return prompt as unknown as Prompt;
}

export function readOptionalStep(params: JsonObject, name: string): PromptStep | undefined {
  const step = readOptionalObject(params, name);
  if (!step) return undefined;
  if (!isNumber(step.current)) throw toInvalid(`${name}.current`, 'Must be a number');
  if (step.total !== undefined && !isNumber(step.total)) throw toInvalid(`${name}.total`, 'Must be a number');
  readOptionalString(step, 'message', `${name}.message`);
  return step as unknown as PromptStep;
}

interface GivenResponse {
  response: JsonObject;
  /** The client's time of the answer, and its own data about it. */
  at?: number;
  meta?: JsonObject;
}

export function readResponse(params: JsonObject): GivenResponse {
  const response = readObject(params, 'response');
  const { timestamp: at } = response;
  if (at !== undefined && (!isNumber(at) || at < 0)) {
    throw toInvalid('response.timestamp', 'Must be a number of milliseconds since 1970');
  }
  const meta = readOptionalObject(response, 'metadata', 'response.metadata');
  return { response, ...(at !== undefined && { at }), ...(meta && Object.keys(meta).length > 0 && { meta }) };
}

function checkRules(validation: JsonObject, path: string): void {
  for (const [name, isRight] of Object.entries(RULES)) {
    if (validation[name] !== undefined && !isRight(validation[name])) {
      throw toInvalid(`${path}.${name}`, 'Is of a wrong type');
    }
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isBound(value: unknown): boolean {
  return isNumber(value) || isText(value);
}
