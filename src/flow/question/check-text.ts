// Checks a text answer: length in code points, format, and pattern under a time limit.
import type { Complaint, Field } from './question.ts';
import { matchesSafely } from './pattern.ts';

const INVALID = 'Invalid format';
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

export function checkTextAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (typeof value !== 'string') return { error: 'Must be text' };
  if (value.includes('\0')) return { error: 'Must not hold NUL characters' };
  const { min, max, pattern, format } = prompt.validation ?? {};
  const length = codePoints(value);
  if (typeof min === 'number' && length < min) return { error: `Must have at least ${min} characters` };
  if (typeof max === 'number' && length > max) return { error: `Must have at most ${max} characters` };
  if (format === 'email' && (value.length > 320 || !EMAIL.test(value)))
    return { error: INVALID, suggestion: 'Use name@example.com' };
  if (format === 'uri' && !URL.canParse(value)) return { error: INVALID, suggestion: 'Use https://example.com' };
  if (pattern !== undefined && !matchesSafely(pattern, value)) {
    return { error: INVALID, ...(prompt.placeholder !== undefined && { suggestion: `Like ${prompt.placeholder}` }) };
  }
  return undefined;
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return count;
}
