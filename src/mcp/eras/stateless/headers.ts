// The HTTP headers of the stateless era. They repeat parts of the body, so that intermediaries can route without parsing
// it: the version, the method, what it names, and the arguments that a tool's schema annotates with `x-mcp-header`. A
// header that differs from the body could bypass a policy on the way, so it is refused.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject, RequestMessage } from '../../../kernel/message.ts';
import { ToolFacts } from '../../../kernel/tool-facts.ts';
import { dictionary } from '../../../kernel/containers/dictionary.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { shorten } from '../../../kernel/base/visible.ts';
import { META } from '../meta.ts';

/** Finds a header by its lower-case name, trimmed. */
export type Headers = (name: string) => string | undefined;

/** The header must name the same version as the body; checked before the version itself. */
export function checkVersionHeader(headers: Headers, request: RequestMessage): void {
  const meta = request.params?._meta;
  const named = isObject(meta) ? meta[META.protocolVersion] : undefined;
  const header = headers('mcp-protocol-version');
  if (typeof named === 'string' && header !== named) throw mismatch('MCP-Protocol-Version', header, named);
}

export function checkStandardHeaders(headers: Headers, request: RequestMessage): void {
  const method = headers('mcp-method');
  if (method !== request.method) throw mismatch('Mcp-Method', method, request.method);
  const name = namedBy(request.method, request.params ?? {});
  if (name === undefined) return;
  const header = headers('mcp-name');
  if (decodeHeader(header) !== name) throw mismatch('Mcp-Name', header, name);
}

/** Throws HEADER_MISMATCH when an annotated argument and its header differ. */
export function checkParamHeaders(headers: Headers, schema: JsonObject, args: unknown): void {
  const annotated = paramHeaders(schema);
  if (annotated === 'invalid') return;
  for (const { header, path } of annotated) {
    const argument = valueAt(args, path);
    const value = toHeaderText(argument);
    const sent = headers(`mcp-param-${header.toLowerCase()}`);
    if (value === undefined && sent === undefined) continue;
    if (value === undefined) throw mismatch(`Mcp-Param-${header}`, sent, 'no such argument');
    if (!isSame(decodeHeader(sent), value, argument)) throw mismatch(`Mcp-Param-${header}`, sent, value);
  }
}

function mismatch(header: string, found: string | undefined, wanted: string): GatewayError {
  const reason =
    found === undefined ? `${header} is missing` : `${header} does not match the body (${shorten(wanted, 80)})`;
  return new GatewayError('HEADER_MISMATCH', { reason });
}

/** Compares numbers by value: 42 and 42.0 are the same argument. */
function isSame(decoded: string | undefined, value: string, argument: unknown): boolean {
  if (decoded === value) return true;
  return typeof argument === 'number' && decoded !== undefined && decoded !== '' && Number(decoded) === argument;
}

/** The headers of a request to a server. `schemas` says which arguments of a call they repeat. */
export function toHeaders(
  method: string,
  params: JsonObject,
  revision: string,
  schemas?: ToolSchemas,
): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': revision, 'mcp-method': method };
  const name = namedBy(method, params);
  if (name !== undefined) headers['mcp-name'] = encodeHeader(name);
  if (method === 'tools/call' && schemas) Object.assign(headers, schemas.headersFor(params));
  return headers;
}

const NAME_FIELD: Record<string, string> = dictionary({
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
});

/** The value for `Mcp-Name`; undefined if the method has no name or the body lacks it (answered as bad params). */
export function namedBy(method: string, params: JsonObject): string | undefined {
  const field = NAME_FIELD[method];
  const value = field && params[field];
  return typeof value === 'string' ? value : undefined;
}

/**
 * Remembers the input schemas of a server's tools. A tool with invalid annotations must not be used over HTTP, so it is
 * left out of lists.
 */
export class ToolSchemas {
  readonly #tools = new ToolFacts();

  /** Remembers the tools of a list and removes those that this transport cannot call. */
  learn(result: JsonObject, http: boolean): { result: JsonObject; refused: string[] } {
    if (!Array.isArray(result.tools)) return { result, refused: [] };
    const refused: string[] = [];
    const tools = result.tools.filter((tool: unknown) => {
      const valid = this.#remember(tool) || !http;
      if (!valid) refused.push(String((tool as JsonObject).name));
      return valid;
    });
    return { result: refused.length === 0 ? result : { ...result, tools }, refused };
  }

  has(name: string): boolean {
    return this.#tools.get(name) !== undefined;
  }

  forget(name: string): void {
    this.#tools.forget(name);
  }

  headersFor({ name, arguments: args }: JsonObject): Record<string, string> {
    const schema = this.#tools.get(String(name))?.inputSchema;
    return schema ? toParamHeaders(schema, args) : {};
  }

  /** False for a tool with invalid annotations. */
  #remember(tool: unknown): boolean {
    if (!isObject(tool) || !isObject(tool.inputSchema)) return true;
    const name = String(tool.name);
    const valid = paramHeaders(tool.inputSchema) !== 'invalid';
    if (valid) this.#tools.note(name, tool);
    else this.#tools.forget(name);
    return valid;
  }
}

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

/** An annotated argument. */
interface ParamHeader {
  header: string;
  path: string[];
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ['string', 'integer', 'boolean'];
const found = new WeakMap<JsonObject, ParamHeader[] | 'invalid'>();

/** The annotations of a schema, found once; 'invalid' if one breaks the rules, then clients must drop the tool. */
export function paramHeaders(schema: JsonObject): ParamHeader[] | 'invalid' {
  let headers = found.get(schema);
  if (!headers) found.set(schema, (headers = collect(schema)));
  return headers;
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

function valueAt(args: unknown, path: string[]): unknown {
  let value = args;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** Integers in decimal, booleans as words; undefined for anything that does not fit into a header. */
export function toHeaderText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

const MARKED = /^=\?base64\?(.*)\?=$/s;
const STRICT_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Visible ASCII, with spaces only inside. */
const PLAIN = /^(?:[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?)?$/;

/** Plain ASCII stays as it is; anything else becomes base64 of its UTF-8 between markers. */
export function encodeHeader(value: string): string {
  if (PLAIN.test(value) && !MARKED.test(value)) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The value; undefined if it is marked as base64 but is not valid, because Buffer.from accepts anything. */
export function decodeHeader(header: string | undefined): string | undefined {
  const marked = header === undefined ? undefined : MARKED.exec(header);
  if (!marked) return header;
  return STRICT_BASE64.test(marked[1]!) ? Buffer.from(marked[1]!, 'base64').toString('utf8') : undefined;
}
