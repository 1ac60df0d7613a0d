// JSON with sorted keys at every depth, for digests of what a peer has sent: like `canonicalJson`, but two numbers that JavaScript cannot tell apart
// (9007199254740992 and 9007199254740993) have different texts. The same number in another spelling (1.0, 1) has the same text.
import { exactText } from './exact-numbers.ts';

export function canonicalExactly(value: unknown): string {
  return write(value, undefined);
}

/** `exact`: the number as it was sent. */
function write(value: unknown, exact: string | undefined): string {
  if (typeof value === 'number') return writeNumber(value, exact);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((one, index) => write(one, exactText(value, String(index)))).join()}]`;
  const holder = value as Record<string, unknown>;
  const keys = Object.keys(holder)
    .filter((key) => holder[key] !== undefined)
    .toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${write(holder[key], exactText(holder, key))}`).join()}}`;
}

function writeNumber(value: number, exact: string | undefined): string {
  const plain = JSON.stringify(value);
  if (exact === undefined || Number(exact) !== value) return plain;
  const decimal = toDecimal(exact);
  return decimal === toDecimal(plain) ? plain : decimal;
}

/** All digits and the exponent, so that equal numbers have equal texts. */
function toDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}
