// A question as plain JSON: what the author wrote, without the functions.
import { toField } from '../engine/spec.ts';
import type { Spec, Wording } from '../engine/spec.ts';
import type { FormFields } from '../authoring/fields.ts';

/** Throws where a part of it is the made-up result of a step. */
export function toPlainSpec(spec: Spec): Spec {
  const { key, kind, choices, fields, loops } = spec;
  const plain: Spec = { key, kind, options: toPlainOptions(spec) };
  if (choices) plain.choices = choices;
  if (loops !== undefined) plain.loops = loops;
  if (fields) plain.fields = toPlainFields(fields);
  return JSON.parse(JSON.stringify(plain)) as Spec;
}

function toPlainFields(fields: FormFields): FormFields {
  const pairs = Object.entries(fields).map(([name, { kind, options, choices }]) => {
    return [
      name,
      { kind, options: toPlainOptions({ key: name, kind, options }), ...(choices && { choices }) },
    ] as const;
  });
  return Object.fromEntries(pairs);
}

function toPlainOptions(spec: Spec): Wording {
  const { validate, schema, pattern, ...options } = spec.options;
  const { prompt } = toField(
    { ...spec, choices: undefined, fields: undefined },
    { catalogue: undefined, locale: undefined },
  );
  return {
    ...options,
    // A check of the author's own may look at other answers.
    ...(options.ahead && { ahead: !validate }),
    ...(pattern !== undefined && { pattern: prompt.validation?.pattern ?? '' }),
    ...(prompt.schema && schema && { schema: prompt.schema }),
  };
}
