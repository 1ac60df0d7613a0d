// A date is a day of the calendar, YYYY-MM-DD, that exists.
import type { Complaint, Field } from './question.ts';

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})$/;

export function checkDate(value: unknown, { prompt }: Field): Complaint | undefined {
  if (typeof value !== 'string' || !isDay(value)) return { error: 'Invalid format', suggestion: 'Use YYYY-MM-DD' };
  const { min, max } = prompt.validation ?? {};
  if (typeof min === 'string' && value < min) return { error: `Must not be before ${min}` };
  if (typeof max === 'string' && value > max) return { error: `Must not be after ${max}` };
  return undefined;
}

export function isDay(text: string): boolean {
  const [, year, month, day] = (SHAPE.exec(text) ?? []).map(Number) as [number, number, number, number];
  if (year === undefined || month < 1 || month > 12) return false;
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
