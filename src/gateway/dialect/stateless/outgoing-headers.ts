// The headers that mirror the body of a request to a server of the stateless era.
import type { JsonObject } from '../../../protocol/message.ts';
import { encodeHeader } from './header-value.ts';
import { namedBy } from './headers.ts';
import type { ToolSchemas } from './tool-schemas.ts';

export function toHeaders(
  method: string,
  params: JsonObject,
  revision: string,
  schemas?: ToolSchemas,
): Record<string, string> {
  const name = namedBy(method, params);
  return {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': encodeHeader(name) }),
    ...(method === 'tools/call' && schemas?.headersFor(params)),
  };
}
