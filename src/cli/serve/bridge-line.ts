// One line that tells who talks with whom: `client 2025-06-18 over stdio ⇄ server 2026-07-28 over HTTP, bridged`.
export interface BridgeSide {
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

/** A transport as people call it. */
export function toTransportName(kind: string): string {
  return TRANSPORTS[kind] ?? kind;
}

/** The draft dialect has a version of its own, which is also the name of a revision of MCP. */
export function toSpokenRevision({ dialect, revision }: BridgeSide): string {
  return dialect === 'draft' ? 'draft' : revision;
}
