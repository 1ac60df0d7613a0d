// Converts a question to plain JSON: what the author wrote, without functions.
import { toQuestionField } from '../engine/question-spec.ts';
import type { QuestionSpec, QuestionOptions } from '../engine/question-spec.ts';
import type { FormFields } from '../authoring/fields.ts';

/** Throws if a part of it comes from the placeholder of a step. */
export function toPlainSpec(spec: QuestionSpec): QuestionSpec {
  const { key, kind, choices, fields, loops } = spec;
  const plain: QuestionSpec = { key, kind, options: toPlainOptions(spec) };
  if (choices) plain.choices = choices;
  if (loops !== undefined) plain.loops = loops;
  if (fields) plain.fields = toPlainFields(fields);
  return JSON.parse(JSON.stringify(plain)) as QuestionSpec;
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

function toPlainOptions(spec: QuestionSpec): QuestionOptions {
  const { validate, schema, pattern, ...options } = spec.options;
  const { prompt } = toQuestionField(
    { ...spec, choices: undefined, fields: undefined },
    { catalogue: undefined, locale: undefined },
  );
  return {
    ...options,
    // The author's own check may look at other answers.
    ...(options.ahead && { ahead: !validate }),
    ...(pattern !== undefined && { pattern: prompt.validation?.pattern ?? '' }),
    ...(prompt.schema && schema && { schema: prompt.schema }),
  };
}
