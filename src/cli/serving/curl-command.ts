// One tools/call as a curl command. It works as pasted, as the stateless era needs no session.
import { META } from '../../gateway/dialect/meta.ts';
import { STATELESS } from '../../gateway/dialect/revisions.ts';

/** Lines for any POSIX shell. */
export function toCurlCommand(url: string, tool: string, args: object): string[] {
  const method = 'tools/call';
  const meta = { [META.protocolVersion]: STATELESS, [META.clientCapabilities]: {} };
  const body = { jsonrpc: '2.0', id: 1, method, params: { name: tool, arguments: args, _meta: meta } };
  const header = (name: string, value: string) => `-H '${name}: ${value}'`;
  return [
    `curl -s ${url} ${header('Content-Type', 'application/json')} \\`,
    `  ${header('MCP-Protocol-Version', STATELESS)} ${header('Mcp-Method', method)} ${header('Mcp-Name', tool)} \\`,
    `  -d '${JSON.stringify(body)}'`,
  ];
}
