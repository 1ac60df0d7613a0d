// Every cell of the matrix, generated: a row is a pair of peers, a column a transport and a revision.

export const TRANSPORTS = ['stdio', 'http', 'sse', 'websocket', 'memory'];
export const REVISIONS = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  'DRAFT-2025-v3',
  '2025-11-25',
  '2026-07-28',
  'draft',
];
const NEWEST = { v1: '2025-11-25', v2: '2026-07-28' };

const NO_WEBSOCKET_SERVER = 'the SDKs have no WebSocket server';
const NO_WEBSOCKET_V2 = 'SDK v2 has no WebSocket';
const V1_ERA = 'SDK v1 ends at 2025-11-25';
const OURS_ONLY = 'no SDK knows it';
const SSE_IS_HANDSHAKE = 'HTTP+SSE belongs to the handshake era';

/** A row: `lacks(transport, revision)` gives undefined if the cell exists, otherwise the reason why it does not. */
export const ROWS = [
  {
    id: 'parley-parley',
    title: 'Parley client ⇄ Parley server',
    client: 'parley',
    server: 'parley',
    lacks: noModernSse,
    cell: (revision) => ({ pin: revision, options: {} }),
  },
  {
    id: 'parley-parley-found',
    title: 'Parley client, not pinned ⇄ Parley server of one revision',
    client: 'parley',
    server: 'parley',
    lacks: (transport, revision) =>
      revision === 'DRAFT-2025-v3' ? 'is only spoken when it is asked for' : noModernSse(transport, revision),
    cell: (revision) => ({ options: { revisions: [revision] } }),
  },
  {
    id: 'v1-client',
    title: 'SDK v1 client ⇄ Parley server',
    client: 'v1',
    server: 'parley',
    lacks: (_transport, revision) => unknownToSdk(revision) ?? (revision >= '2026' ? V1_ERA : undefined),
    cell: (revision) => ({ options: { revisions: [revision] } }),
  },
  {
    id: 'v2-client-legacy',
    title: 'SDK v2 client, legacy ⇄ Parley server',
    client: 'v2',
    server: 'parley',
    mode: 'legacy',
    lacks: (transport, revision) =>
      noV2(transport) ?? unknownToSdk(revision) ?? (revision >= '2026' ? 'not in this mode of the client' : undefined),
    cell: (revision) => ({ pin: revision, options: {} }),
  },
  {
    id: 'v2-client-auto',
    title: 'SDK v2 client, auto ⇄ Parley server of one revision',
    client: 'v2',
    server: 'parley',
    mode: 'auto',
    lacks: (transport, revision) => noV2(transport) ?? unknownToSdk(revision) ?? noModernSse(transport, revision),
    cell: (revision) => ({ options: { revisions: [revision] } }),
  },
  {
    id: 'v2-client-pin',
    title: 'SDK v2 client, pinned ⇄ Parley server',
    client: 'v2',
    server: 'parley',
    mode: 'pin',
    lacks: (transport, revision) =>
      noV2(transport) ??
      unknownToSdk(revision) ??
      (revision < '2026' ? 'not in this mode of the client' : noModernSse(transport, revision)),
    cell: (revision) => ({ pin: revision, options: {} }),
  },
  ...officialServer({ id: 'v1-server', title: 'SDK v1 server', server: 'v1' }),
  ...officialServer({
    id: 'v1-server-json',
    title: 'SDK v1 server, JSON answers',
    server: 'v1',
    variant: '-json',
    only: 'http',
  }),
  ...officialServer({ id: 'v2-server', title: 'SDK v2 server', server: 'v2', sessions: true }),
  ...officialServer({
    id: 'v2-server-handler',
    title: 'SDK v2 server, createMcpHandler',
    server: 'v2',
    variant: '-handler',
    only: 'http',
  }),
];

/** Parley's client with an official server, once pinned to each revision and once finding out by itself. */
function officialServer({ only, sessions, ...row }) {
  const lacks = (transport, revision) => {
    if (transport === 'websocket') return NO_WEBSOCKET_SERVER;
    if (only && transport !== only) return 'an option of Streamable HTTP';
    if (revision >= '2026' && row.server === 'v1') return unknownToSdk(revision) ?? V1_ERA;
    if (sessions && transport === 'http' && isStateless(revision)) return 'its sessions are of the handshake era';
    return unknownToSdk(revision) ?? (row.server === 'v2' ? noModernSse(transport, revision) : undefined);
  };
  const newest = (transport) => (lacks(transport, NEWEST[row.server]) ? '2025-11-25' : NEWEST[row.server]);
  const pinned = { ...row, title: `Parley client ⇄ ${row.title}`, client: 'parley', lacks };
  return [
    { ...pinned, cell: (revision) => ({ pin: revision, options: {} }) },
    {
      ...pinned,
      id: `${row.id}-found`,
      title: `Parley client, not pinned ⇄ ${row.title}`,
      lacks: (transport, revision) =>
        lacks(transport, revision) ?? (revision === newest(transport) ? undefined : 'not the newest that both know'),
      cell: () => ({ options: {} }),
    },
  ];
}

/** All cells, in the order of rows, transports and revisions. */
export function generateCells() {
  return ROWS.flatMap((row) =>
    TRANSPORTS.flatMap((transport) =>
      REVISIONS.filter((revision) => !row.lacks(transport, revision)).map((revision) =>
        toCell(row, transport, revision),
      ),
    ),
  );
}

function toCell(row, transport, revision) {
  const { id, client, server, variant, mode } = row;
  return {
    id: `${id}/${transport}/${revision}`,
    row: id,
    client,
    server,
    variant,
    mode,
    transport,
    revision,
    ...row.cell(revision),
  };
}

function isStateless(revision) {
  return /^\d/.test(revision) && revision >= '2026';
}

function unknownToSdk(revision) {
  return revision === 'draft' || revision === 'DRAFT-2025-v3' ? OURS_ONLY : undefined;
}

function noV2(transport) {
  return transport === 'websocket' ? NO_WEBSOCKET_V2 : undefined;
}

function noModernSse(transport, revision) {
  return transport === 'sse' && isStateless(revision) ? SSE_IS_HANDSHAKE : undefined;
}
