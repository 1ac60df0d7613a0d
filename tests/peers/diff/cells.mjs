// Who talks with whom, and how. A cell is a client, a server and a way; what comes out through the gateway is compared with
// the same client and server without it. Where they cannot talk without it, because no revision is known to both, it is
// compared with the handshake client of the same SDK. Two transports may word the same thing differently: with HTTP before and stdio
// behind the gateway, what comes out has to be what comes out directly over one of them.

export const SERVERS = ['v1', 'v2'];
export const CLIENTS = [
  { id: 'v1', client: 'v1', era: 'handshake', title: 'SDK v1' },
  { id: 'v2', client: 'v2', era: 'handshake', title: 'SDK v2, handshake' },
  { id: '2026', client: 'v2', era: 'stateless', title: 'SDK v2, 2026-07-28' },
];
/** `client` and `server`: the transport on either side of the gateway. */
export const WAYS = [
  { id: 'stdio', client: 'stdio', server: 'stdio' },
  { id: 'http', client: 'http', server: 'http' },
  { id: 'http-stdio', client: 'http', server: 'stdio' },
];

export const CELLS = SERVERS.flatMap((server) =>
  CLIENTS.flatMap(({ id, client, era }) =>
    WAYS.map((way) => {
      const isBridged = server === 'v1' && era === 'stateless';
      const reference = (transport) => ({ server, client, era: isBridged ? 'handshake' : era, transport });
      const references = [...new Set([way.server, way.client])].map(reference);
      return { id: `${id} ⇄ ${server} ${way.id}`, column: id, server, client, era, way, isBridged, references };
    }),
  ),
);

export function nameOf({ server, client, era, transport }) {
  return `${client} ${era} ⇄ ${server} ${transport}`;
}
