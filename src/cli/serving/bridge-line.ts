// One line that says who talks to whom: `client 2025-06-18 over stdio ⇄ server 2026-07-28 over HTTP, bridged`.
import { URL_LINKS } from '../../mcp/connect/url-links.ts';
import { isSameEra, toSpokenRevision } from '../../mcp/eras/revisions.ts';

interface BridgeSide {
  dialect: string;
  revision: string;
}

export function toBridgeLine(
  client: BridgeSide & { transport: string },
  server: BridgeSide & { transport: string },
): string {
  const verdict = isSameEra(client.dialect, server.dialect) ? 'same era' : 'bridged';
  return `client ${toSpokenRevision(client)} over ${client.transport} ⇄ server ${toSpokenRevision(server)} over ${toTransportName(server.transport)}, ${verdict}`;
}

/** The usual name of a transport. */
export function toTransportName(kind: string): string {
  return URL_LINKS.find(({ transport }) => transport === kind)?.label ?? kind;
}
