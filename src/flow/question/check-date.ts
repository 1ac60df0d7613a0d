// Checks that a date exists in the calendar (YYYY-MM-DD).
import { hasFormat } from '../../protocol/form/text-format.ts';
import { toComplaint } from './complaint.ts';
import type { Complaint, Field } from './question.ts';

export function checkDateAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (typeof value !== 'string' || !hasFormat('date', value)) return toComplaint({ code: 'date' });
  const { min, max } = prompt.validation ?? {};
  if (typeof min === 'string' && value < min) return { error: `Must not be before ${min}` };
  if (typeof max === 'string' && value > max) return { error: `Must not be after ${max}` };
  return undefined;
}
