// One line that tells who talks with whom: `client 2025-06-18 over stdio ⇄ server 2026-07-28 over HTTP, bridged`.
export interface Side {
  dialect: string;
  revision: string;
}

const TRANSPORTS: Record<string, string> = {
  'streamable-http': 'HTTP',
  'http+sse': 'HTTP+SSE',
  websocket: 'WebSocket',
};

export function bridgeLine(client: Side & { transport: string }, server: Side & { transport: string }): string {
  const verdict = client.dialect === server.dialect ? 'same era' : 'bridged';
  return `client ${spoken(client)} over ${client.transport} ⇄ server ${spoken(server)} over ${transportName(server.transport)}, ${verdict}`;
}

/** A transport as people call it. */
export function transportName(kind: string): string {
  return TRANSPORTS[kind] ?? kind;
}

/** The draft dialect has a version of its own, which is also the name of a revision of MCP. */
export function spoken({ dialect, revision }: Side): string {
  return dialect === 'draft' ? 'draft' : revision;
}
