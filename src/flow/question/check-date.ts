// Checks that a date exists in the calendar (YYYY-MM-DD).
import type { Complaint, Field } from './question.ts';

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const SHAPE = /^(\d{4})-(\d{2})-(\d{2})$/;

export function checkDateAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (typeof value !== 'string' || !isDay(value)) return { error: 'Invalid format', suggestion: 'Use YYYY-MM-DD' };
  const { min, max } = prompt.validation ?? {};
  if (typeof min === 'string' && value < min) return { error: `Must not be before ${min}` };
  if (typeof max === 'string' && value > max) return { error: `Must not be after ${max}` };
  return undefined;
}

export function isDay(text: string): boolean {
  const parts = SHAPE.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return day >= 1 && day <= (month === 2 && isLeap(year) ? 29 : (DAYS[month - 1] ?? 0));
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
