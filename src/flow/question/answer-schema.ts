// The JSON Schema of an answer, for tool arguments, forms and models.
import type { JsonObject } from '../../kernel/message.ts';
import type { Choice } from '../../kernel/form/prompt.ts';
import type { Field } from './question.ts';

type Asked = Field & { fields?: Record<string, Field> | undefined };

export function toAnswerSchema(asked: Asked): JsonObject {
  const { prompt, label, help } = asked;
  return {
    ...bare(asked),
    ...(label !== undefined && { title: label }),
    description: help === undefined ? prompt.message : `${prompt.message} ${help}`,
    ...(prompt.defaultValue !== undefined && { default: prompt.defaultValue }),
  };
}

function bare({ kind, prompt, fields = {} }: Asked): JsonObject {
  const { min, max, pattern, format, integer } = prompt.validation ?? {};
  switch (kind) {
    case 'text':
      return { type: 'string', ...given({ minLength: min, maxLength: max, pattern, format }) };
    case 'number':
      return { type: integer ? 'integer' : 'number', ...given({ minimum: min, maximum: max }) };
    case 'confirm':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date', ...given({ formatMinimum: min, formatMaximum: max }) };
    case 'choice':
      return oneOf(prompt.choices ?? []);
    case 'choices':
      return {
        type: 'array',
        items: oneOf(prompt.choices ?? []),
        uniqueItems: true,
        ...given({ minItems: min, maxItems: max }),
      };
    case 'file':
      return FILE;
    case 'custom':
      return prompt.schema ?? {};
    case 'form':
      return formSchema(fields);
  }
}

const FILE: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    mimeType: { type: 'string' },
    data: { type: 'string', contentEncoding: 'base64' },
  },
  required: ['name', 'mimeType', 'data'],
};

/** Plain values become an enum; values with labels become `oneOf`. */
function oneOf(choices: Choice[]): JsonObject {
  const named = choices.some(({ value, label }) => label !== String(value));
  if (named) return { oneOf: choices.map(({ value, label }) => ({ const: value, title: label })) };
  const isText = choices.every(({ value }) => typeof value === 'string');
  return { ...(isText && { type: 'string' }), enum: choices.map(({ value }) => value) };
}

function formSchema(fields: Record<string, Field>): JsonObject {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toAnswerSchema(field)]));
  const required = Object.entries(fields).flatMap(([name, field]) => (isRequired(field) ? [name] : []));
  return { type: 'object', properties, required, additionalProperties: false };
}

export function isRequired({ kind, prompt }: Field): boolean {
  if (prompt.defaultValue !== undefined && kind !== 'confirm') return false;
  return kind === 'confirm' || kind === 'form' || prompt.validation?.required === true;
}

function given(rules: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== undefined));
}
