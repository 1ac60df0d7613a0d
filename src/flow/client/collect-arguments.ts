// For tools that are not interactive: asks for the missing required arguments one by one, with questions made from the input schema.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Choice, Prompt, Validation } from '../../protocol/form/prompt.ts';
import { precheck } from './precheck.ts';
import { CANCEL } from '../../gateway/flow/play/flow-run.ts';
import type { PlayOptions } from './flow-client.ts';

/** Undefined if the user cancels. */
export async function collectArguments(
  schema: JsonObject,
  given: JsonObject,
  options: PlayOptions,
): Promise<JsonObject | undefined> {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.filter((name) => given[name] === undefined);
  const params = { ...given };
  for (const [index, name] of missing.entries()) {
    const prompt = toPrompt(name, isObject(properties[name]) ? properties[name] : {});
    const progress = { current: index + 1, total: missing.length };
    const value = await precheck(prompt, options, (problem) => options.onPrompt(prompt, { progress, problem }));
    if (value === CANCEL) return undefined;
    params[name] = value;
  }
  return params;
}

function toPrompt(name: string, schema: JsonObject): Prompt {
  const { title, description, default: defaultValue } = schema;
  const message = String(title ?? description ?? name);
  const validation = { required: true, ...rulesOf(schema) };
  return { ...kindOf(schema), message, ...(defaultValue !== undefined && { defaultValue }), validation };
}

function kindOf(schema: JsonObject): Pick<Prompt, 'type' | 'choices' | 'schema'> {
  const choices = choicesOf(schema);
  if (choices) return { type: 'choice', choices };
  switch (schema.type) {
    case 'boolean':
      return { type: 'confirm' };
    case 'number':
    case 'integer':
      return { type: 'number' };
    case 'string':
      return { type: schema.format === 'date' ? 'date' : 'text' };
    default:
      return { type: 'custom', schema };
  }
}

function choicesOf({ enum: values, oneOf }: JsonObject): Choice[] | undefined {
  if (Array.isArray(values)) return values.map((value) => ({ value, label: String(value) }));
  if (!Array.isArray(oneOf) || !oneOf.every((one) => isObject(one) && 'const' in one)) return undefined;
  return (oneOf as JsonObject[]).map(({ const: value, title }) => ({ value, label: String(title ?? value) }));
}

function rulesOf({ type, minLength, maxLength, minimum, maximum, pattern }: JsonObject): Validation {
  const [min, max] = type === 'string' ? [minLength, maxLength] : [minimum, maximum];
  return {
    ...(typeof min === 'number' && { min }),
    ...(typeof max === 'number' && { max }),
    ...(typeof pattern === 'string' && { pattern }),
    ...(type === 'integer' && { integer: true }),
  };
}
