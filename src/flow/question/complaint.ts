// What is wrong with an answer, in the words of flows.
import type { CheckedValue, ProblemCode } from '../../protocol/form/answer-problem.ts';
import type { Complaint } from './question.ts';

const INVALID = 'Invalid format';

/** `{limit}` is filled in. */
const COMPLAINTS: Partial<Record<ProblemCode, Complaint>> = {
  text: { error: 'Must be text, without NUL characters' },
  tooShort: { error: 'Must have at least {limit} characters' },
  tooLong: { error: 'Must have at most {limit} characters' },
  email: { error: INVALID, suggestion: 'Use name@example.com' },
  uri: { error: INVALID, suggestion: 'Use https://example.com' },
  date: { error: INVALID, suggestion: 'Use YYYY-MM-DD' },
  number: { error: 'Must be a number' },
  integer: { error: 'Must be a whole number' },
  tooSmall: { error: 'Must be at least {limit}' },
  tooLarge: { error: 'Must be at most {limit}' },
};

export function toComplaint(checked: Exclude<CheckedValue, { value: unknown }>): Complaint {
  const { error, suggestion } = COMPLAINTS[checked.code] ?? { error: INVALID };
  return {
    error: error.replace('{limit}', () => String(checked.limit)),
    ...(suggestion !== undefined && { suggestion }),
  };
}
