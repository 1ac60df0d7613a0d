// Checks the standard headers of the stateless era. They repeat parts of the body, so that intermediaries can route
// without parsing it; a header that differs from the body could bypass a policy on the way.
import type { JsonObject, RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { dictionary } from '../../../shared/containers/dictionary.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { shorten } from '../../../shared/visible.ts';
import { META } from '../meta.ts';
import { decodeHeader } from './header-value.ts';

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
  const decoded = header === undefined ? undefined : decodeHeader(header);
  if (decoded !== name) throw mismatch('Mcp-Name', header, name);
}

export function mismatch(header: string, found: string | undefined, wanted: string): GatewayError {
  const reason =
    found === undefined ? `${header} is missing` : `${header} does not match the body (${shorten(wanted, 80)})`;
  return new GatewayError('HEADER_MISMATCH', { reason });
}

/** The value for `Mcp-Name`; undefined if the method has no name or the body lacks it (answered as bad params). */
export function namedBy(method: string, params: JsonObject): string | undefined {
  const field = NAME_FIELD[method];
  const value = field && params[field];
  return typeof value === 'string' ? value : undefined;
}

const NAME_FIELD: Record<string, string> = dictionary({
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
});
