// One line that says who talks to whom: `client 2025-06-18 over stdio ⇄ server 2026-07-28 over HTTP, bridged`.
interface BridgeSide {
  dialect: string;
  revision: string;
}

const TRANSPORTS: Record<string, string> = {
  'streamable-http': 'HTTP',
  'http+sse': 'HTTP+SSE',
  websocket: 'WebSocket',
};

export function toBridgeLine(
  client: BridgeSide & { transport: string },
  server: BridgeSide & { transport: string },
): string {
  const verdict = client.dialect === server.dialect ? 'same era' : 'bridged';
  return `client ${toSpokenRevision(client)} over ${client.transport} ⇄ server ${toSpokenRevision(server)} over ${toTransportName(server.transport)}, ${verdict}`;
}

/** The usual name of a transport. */
export function toTransportName(kind: string): string {
  return TRANSPORTS[kind] ?? kind;
}

/** The version of the draft dialect is also the name of an MCP revision, so the dialect is shown. */
export function toSpokenRevision({ dialect, revision }: BridgeSide): string {
  return dialect === 'draft' ? 'draft' : revision;
}
