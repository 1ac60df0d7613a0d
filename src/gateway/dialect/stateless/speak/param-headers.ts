// Mirrors arguments into `Mcp-Param-*` headers, as a tool's `x-mcp-header` annotations ask. They are found once per
// schema.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { decodeHeader, encodeHeader, toHeaderText } from '../header-value.ts';
import { mismatch } from '../headers.ts';
import type { Headers } from '../headers.ts';

export interface ParamHeader {
  header: string;
  path: string[];
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ['string', 'integer', 'boolean'];
const found = new WeakMap<JsonObject, ParamHeader[] | 'invalid'>();

/** The annotations of a schema; 'invalid' if one breaks the rules, then clients must drop the tool. */
export function paramHeaders(schema: JsonObject): ParamHeader[] | 'invalid' {
  let headers = found.get(schema);
  if (!headers) found.set(schema, (headers = collect(schema)));
  return headers;
}

/** Throws HEADER_MISMATCH when an annotated argument and its header differ. */
export function checkParamHeaders(headers: Headers, schema: JsonObject, args: unknown): void {
  const annotated = paramHeaders(schema);
  if (annotated === 'invalid') return;
  for (const { header, path } of annotated) {
    const value = toHeaderText(valueAt(args, path));
    const sent = headers(`mcp-param-${header.toLowerCase()}`);
    if (value === undefined && sent === undefined) continue;
    if (value === undefined) throw mismatch(`Mcp-Param-${header}`, sent, 'no such argument');
    const decoded = sent === undefined ? undefined : decodeHeader(sent);
    if (!isSame(decoded, value, valueAt(args, path))) throw mismatch(`Mcp-Param-${header}`, sent, value);
  }
}

/** The headers a client sends along with a call. */
export function toParamHeaders(schema: JsonObject, args: unknown): Record<string, string> {
  const annotated = paramHeaders(schema);
  const headers: Record<string, string> = {};
  if (annotated === 'invalid') return headers;
  for (const { header, path } of annotated) {
    const value = toHeaderText(valueAt(args, path));
    if (value !== undefined) headers[`mcp-param-${header.toLowerCase()}`] = encodeHeader(value);
  }
  return headers;
}

/** Compares numbers by value: 42 and 42.0 are the same argument. */
function isSame(decoded: string | undefined, value: string, argument: unknown): boolean {
  if (decoded === value) return true;
  return typeof argument === 'number' && decoded !== undefined && decoded !== '' && Number(decoded) === argument;
}

function valueAt(args: unknown, path: string[]): unknown {
  let value = args;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}

function collect(schema: JsonObject): ParamHeader[] | 'invalid' {
  const headers: ParamHeader[] = [];
  if (!walk(schema, [], headers)) return 'invalid';
  const names = new Set(headers.map(({ header }) => header.toLowerCase()));
  return names.size === headers.length ? headers : 'invalid';
}

/** Only schemas reachable from the root through `properties` may be annotated. */
function walk(schema: JsonObject, path: string[], headers: ParamHeader[]): boolean {
  if (path.length > 32) return true;
  const annotation = schema['x-mcp-header'];
  if (annotation !== undefined) {
    const valid = typeof annotation === 'string' && TOKEN.test(annotation) && TYPES.includes(schema.type as string);
    if (!valid || path.length === 0) return false;
    headers.push({ header: annotation, path });
  }
  if (!isObject(schema.properties)) return true;
  return Object.entries(schema.properties).every(
    ([name, property]) => !isObject(property) || walk(property, [...path, name], headers),
  );
}
