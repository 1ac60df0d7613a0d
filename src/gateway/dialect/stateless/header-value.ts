// How a value travels in an HTTP header: as it is when it is plain ASCII, else as base64 of its UTF-8 between markers.
const MARKED = /^=\?base64\?(.*)\?=$/s;
const STRICT_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Visible ASCII with blanks inside, not at the ends. */
const PLAIN = /^(?:[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?)?$/;

export function encodeHeader(value: string): string {
  if (PLAIN.test(value) && !MARKED.test(value)) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The value, or undefined when it is marked as base64 and is none: Buffer.from would take anything. */
export function decodeHeader(header: string): string | undefined {
  const marked = MARKED.exec(header);
  if (!marked) return header;
  return STRICT_BASE64.test(marked[1]!) ? Buffer.from(marked[1]!, 'base64').toString('utf8') : undefined;
}

/** Arguments as text: integers in decimal, booleans as words; undefined for anything that has no place in a header. */
export function toHeaderText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}
