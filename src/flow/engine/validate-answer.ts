// Validates an answer against the question as the body asks it now. A new answer and one from the journal get the same check: an old
// answer that breaks a new rule is asked again.
import { isStandardSchema } from '../../server/schema.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Complaint } from '../question/question.ts';
import { checkAnswer } from '../question/check-answer.ts';
import { toQuestionField, toQuestionFields } from './question-spec.ts';
import type { QuestionSpec, Localization, QuestionOptions } from './question-spec.ts';

export type CheckedFlowAnswer =
  /** `raw` is for the journal, `value` for the body. */
  { value: unknown; raw: unknown; from: 'given' | 'default' } | { complaint: Complaint };

export interface ValidationContext {
  localization: Localization;
  answers: Readonly<Record<string, unknown>>;
  /** A file or secret in the store, which was checked when it arrived. */
  stored: boolean;
}

export function validateFlowAnswer(
  raw: unknown,
  spec: QuestionSpec,
  circumstances: ValidationContext,
): CheckedFlowAnswer {
  const checked = circumstances.stored ? { value: raw, from: 'given' as const } : check(raw, spec, circumstances);
  if ('complaint' in checked) return checked;
  if (checked.value === undefined) return { value: undefined, raw: undefined, from: checked.from };
  const { options } = spec;
  const parts = spec.fields ? throughFields(checked.value, spec, circumstances) : { value: checked.value };
  const made = 'complaint' in parts ? parts : through(parts.value, options, circumstances);
  if ('complaint' in made) return made;
  return { value: made.value, raw: checked.value, from: checked.from };
}

function check(raw: unknown, spec: QuestionSpec, { localization }: ValidationContext) {
  const field = toQuestionField(spec, localization);
  return checkAnswer(raw, spec.fields ? { ...field, fields: toQuestionFields(spec.fields, localization) } : field);
}

type Made = { value: unknown } | { complaint: Complaint };

/** Applies the author's schema, then the author's `validate`. */
function through(value: unknown, options: QuestionOptions, { answers, stored }: ValidationContext): Made {
  let made = value;
  if (options.schema && !stored && isStandardSchema(options.schema)) {
    const result = options.schema['~standard'].validate(value);
    if (result instanceof Promise) {
      throw new GatewayError('FLOW_MISUSED', { reason: 'a schema that checks asynchronously; do that in ask.step' });
    }
    if (result.issues) return { complaint: { error: result.issues[0]?.message ?? 'Invalid' } };
    made = result.value;
  }
  const said = options.validate?.(made, { answers });
  if (said === undefined || said === null) return { value: made };
  return { complaint: typeof said === 'string' ? { error: said } : said };
}

function throughFields(value: unknown, { fields = {} }: QuestionSpec, circumstances: ValidationContext): Made {
  const made: Record<string, unknown> = {};
  const complaints: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) continue;
    const one = through(given, field.options, circumstances);
    if ('complaint' in one) complaints.push(`${name}: ${one.complaint.error}`);
    else made[name] = one.value;
  }
  return complaints.length > 0 ? { complaint: { error: complaints.join('; ') } } : { value: made };
}
