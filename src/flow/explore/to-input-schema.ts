// The input schema of a flow: what it declares, and the questions that were found in it. With it a client can say all at once, and
// is asked only for the rest.
import type { AnyFlow } from '../define.ts';
import { toField, toFields } from '../engine/spec.ts';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isRequired, toAnswerSchema } from '../question/to-json-schema.ts';
import type { Explored, FoundQuestion } from './explore.ts';

/** `all`: whoever calls cannot be asked, so what is always asked must be given. */
export function toInputSchema(flow: AnyFlow, { questions }: Explored, needs: 'some' | 'all' = 'some'): JsonObject {
  const declared = flow.input?.json ?? { type: 'object' };
  const own = isObject(declared['properties']) ? declared['properties'] : {};
  // Secrets and a person's own word cannot come as arguments.
  const found = questions.filter(
    ({ spec: { key, options } }) => !(key in own || options.secret || options.by === 'human'),
  );
  const properties = Object.fromEntries(found.map((one) => [one.spec.key, toAnswerSchema(asked(flow, one))]));
  const needed = needs === 'some' ? [] : found.filter((one) => one.always && isRequired(asked(flow, one)));
  const required = [...((declared['required'] as string[] | undefined) ?? []), ...needed.map(({ spec }) => spec.key)];
  if (Object.keys(properties).length === 0) return declared;
  const { required: _, ...rest } = declared;
  return { ...rest, properties: { ...own, ...properties }, ...(required.length > 0 && { required }) };
}

function asked(flow: AnyFlow, { spec }: FoundQuestion) {
  const tongue = { catalogue: flow.options.messages, locale: undefined };
  return { ...toField(spec, tongue), ...(spec.fields && { fields: toFields(spec.fields, tongue) }) };
}
