// Checks the text formats that a form may ask for.
import type { TextFormat } from './schema-field.ts';

const MAX_EMAIL = 254;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

export function hasFormat(format: TextFormat, text: string): boolean {
  switch (format) {
    case 'email':
      return (
        text.length <= MAX_EMAIL && /^[^\s@"<>(),;:\\[\]]+@[^\s@."<>(),;:\\[\]]+(\.[^\s@."<>(),;:\\[\]]+)+$/.test(text)
      );
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text);
    case 'date':
      return isDate(text);
    case 'date-time':
      return isDate(DATE_TIME.exec(text)?.[1] ?? '');
  }
}

/** A real calendar date: no 30 February. */
function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day); // years before 100 are not shifted to 1900
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
