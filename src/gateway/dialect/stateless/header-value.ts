// Encodes values for HTTP headers: plain ASCII as it is, anything else as base64 of its UTF-8 between markers.
const MARKED = /^=\?base64\?(.*)\?=$/s;
const STRICT_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Visible ASCII, with spaces only inside. */
const PLAIN = /^(?:[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?)?$/;

export function encodeHeader(value: string): string {
  if (PLAIN.test(value) && !MARKED.test(value)) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The value; undefined if it is marked as base64 but is not valid, because Buffer.from accepts anything. */
export function decodeHeader(header: string): string | undefined {
  const marked = MARKED.exec(header);
  if (!marked) return header;
  return STRICT_BASE64.test(marked[1]!) ? Buffer.from(marked[1]!, 'base64').toString('utf8') : undefined;
}

/** Integers in decimal, booleans as words; undefined for anything that does not fit into a header. */
export function toHeaderText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}
