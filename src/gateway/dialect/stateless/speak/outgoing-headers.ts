// Builds the headers that repeat parts of the body, for requests to stateless servers.
import type { JsonObject } from '../../../../protocol/message.ts';
import { encodeHeader } from '../header-value.ts';
import { namedBy } from '../headers.ts';
import type { ToolSchemas } from './tool-schemas.ts';

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
