// Writes text of a server into a text that a model reads. It stays on one line, has no hidden characters and cannot end its own quotation:
// so a model never takes it for text of the gateway.
import { withoutHidden } from './hidden.ts';

/** The limit for one text. */
const MAX_CHARS = 4000;
const LINE_END = /\r\n?|[\n\u2028\u2029]/g;
const CURLY = /[“”„‟]/g;
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}_.,$/:@-]{1,128}$/u;
const PLAIN_ADDRESS = /^[\x21-\x7e]+$/;
/** What JSON leaves as it is, though it is hidden, ends a line or looks like the end of a quotation. */
const UNESCAPED = /[\x7f-\x9f\u2028-\u202e\u2066-\u2069“”„‟]|[\u{E0000}-\u{E007F}]/gu;

export function quoteForeign(text: unknown): string {
  const whole = String(text ?? '');
  return `“${onOneLine(whole.length > MAX_CHARS ? `${whole.slice(0, MAX_CHARS)} …` : whole)}”`;
}

/** A line end is shown as in JSON. */
export function onOneLine(text: string): string {
  return withoutHidden(text).replace(LINE_END, '\\n').replaceAll('\t', ' ').replace(CURLY, '"');
}

/** A name of one word as it is, any other in quotation marks. */
export function foreignName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoteForeign(name);
}

/** For values that have to come back exactly. */
export function foreignJson(value: unknown): string {
  return JSON.stringify(value).replace(UNESCAPED, toEscapes);
}

export function foreignAddress(address: string): string {
  if (PLAIN_ADDRESS.test(address)) return address;
  const parsed = URL.canParse(address) ? new URL(address).href : '';
  return PLAIN_ADDRESS.test(parsed) ? parsed : quoteForeign(address);
}

function toEscapes(found: string): string {
  const units = Array.from({ length: found.length }, (_, at) => found.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
