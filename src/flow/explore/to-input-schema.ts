// The input schema of a flow: its declared input and the questions that were found. A client can send all answers at once, and is asked
// only for the rest.
import type { AnyFlow } from '../define.ts';
import { toQuestionField, toQuestionFields } from '../engine/question-spec.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { isRequired, toAnswerSchema } from '../question/answer-schema.ts';
import type { Exploration, FoundQuestion } from './exploration.ts';

/** Models refuse all tools of a client if one has an argument with another name. A question of a loop has the name `name#2`. */
const NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

interface InputSchemaOptions {
  /** `all`: the caller cannot be asked, so every required answer is required. */
  needs?: 'some' | 'all';
  /** Size limit of the schema as JSON. The declared input always stays; questions are left out from the end. */
  maxBytes?: number;
}

export function toInputSchema(flow: AnyFlow, explored: Exploration, options: InputSchemaOptions = {}): JsonObject {
  return fitInputSchema(flow, explored, options).schema;
}

/** `left`: how many questions did not fit. */
export function fitInputSchema(
  flow: AnyFlow,
  { questions }: Exploration,
  { needs = 'some', maxBytes = Infinity }: InputSchemaOptions = {},
): { schema: JsonObject; left: number } {
  const declared = flow.input?.json ?? { type: 'object' };
  const own = isObject(declared['properties']) ? declared['properties'] : {};
  const found = questions.filter(({ spec }) => !(spec.key in own) && canBeArgument(spec));
  for (let count = found.length; count > 0; count--) {
    const left = found.length - count;
    const schema = toSchema(flow, { declared, found: found.slice(0, count), needs, left });
    if (Buffer.byteLength(JSON.stringify(schema)) <= maxBytes) return { schema, left };
  }
  return { schema: found.length === 0 ? declared : withNote(declared, found.length), left: found.length };
}

/** Such names can only come from the author's schema. */
export function namesModelsRefuse({ properties }: JsonObject): string[] {
  return isObject(properties) ? Object.keys(properties).filter((name) => !NAME.test(name)) : [];
}

/** Secrets and answers of a person cannot be arguments. */
function canBeArgument({ key, options, fields = {} }: FoundQuestion['spec']): boolean {
  return !options.secret && options.by !== 'human' && [key, ...Object.keys(fields)].every((name) => NAME.test(name));
}

interface Parts {
  declared: JsonObject;
  found: readonly FoundQuestion[];
  needs: 'some' | 'all';
  left: number;
}

function toSchema(flow: AnyFlow, { declared, found, needs, left }: Parts): JsonObject {
  const properties = Object.fromEntries(found.map((one) => [one.spec.key, toAnswerSchema(asked(flow, one))]));
  const needed = needs === 'some' ? [] : found.filter((one) => one.always && isRequired(asked(flow, one)));
  const required = [...((declared['required'] as string[] | undefined) ?? []), ...needed.map(({ spec }) => spec.key)];
  const { required: _, properties: own, ...rest } = declared;
  const schema = {
    ...rest,
    properties: { ...(isObject(own) ? own : {}), ...properties },
    ...(required.length > 0 && { required }),
  };
  return left === 0 ? schema : withNote(schema, left);
}

function withNote(schema: JsonObject, left: number): JsonObject {
  const note = `Not all questions of this tool are listed: it may ask ${left} more.`;
  const { description } = schema;
  return { ...schema, description: typeof description === 'string' ? `${description} ${note}` : note };
}

function asked(flow: AnyFlow, { spec }: FoundQuestion) {
  const localization = { catalogue: flow.options.messages, locale: undefined };
  return {
    ...toQuestionField(spec, localization),
    ...(spec.fields && { fields: toQuestionFields(spec.fields, localization) }),
  };
}
