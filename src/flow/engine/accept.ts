// Whether an answer is one, for the question as the body asks it today. The same check for an answer that came just now and for
// one out of the journal: what was fine last week may not be so under new rules, and is then asked again.
import { isStandardSchema } from '../../server/schema/standard-schema.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Complaint } from '../question/question.ts';
import { checkAnswer } from '../question/check.ts';
import { toField, toFields } from './spec.ts';
import type { Spec, Tongue, Wording } from './spec.ts';

export type Accepted =
  /** `raw` is for the journal, `value` for the body. */
  { value: unknown; raw: unknown; from: 'given' | 'default' } | { complaint: Complaint };

export interface Circumstances {
  tongue: Tongue;
  answers: Readonly<Record<string, unknown>>;
  /** Was taken in and checked when it came: a file or a secret that lies in the store. */
  stored: boolean;
}

export function accept(raw: unknown, spec: Spec, circumstances: Circumstances): Accepted {
  const checked = circumstances.stored ? { value: raw, from: 'given' as const } : check(raw, spec, circumstances);
  if ('complaint' in checked) return checked;
  if (checked.value === undefined) return { value: undefined, raw: undefined, from: checked.from };
  const { options } = spec;
  const parts = spec.fields ? throughFields(checked.value, spec, circumstances) : { value: checked.value };
  const made = 'complaint' in parts ? parts : through(parts.value, options, circumstances);
  if ('complaint' in made) return made;
  return { value: made.value, raw: checked.value, from: checked.from };
}

function check(raw: unknown, spec: Spec, { tongue }: Circumstances) {
  const field = toField(spec, tongue);
  return checkAnswer(raw, spec.fields ? { ...field, fields: toFields(spec.fields, tongue) } : field);
}

type Made = { value: unknown } | { complaint: Complaint };

/** The author's own rules: his schema, then his function. */
function through(value: unknown, options: Wording, { answers, stored }: Circumstances): Made {
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

function throughFields(value: unknown, { fields = {} }: Spec, circumstances: Circumstances): Made {
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
