// Who speaks with whom: the revision and transport of the client, and those of the server.
const CLIENTS = {
  stdio: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'draft'],
  http: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'draft'],
  sse: ['2024-11-05', '2025-03-26'],
  ws: ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28', 'draft'],
};
const SERVERS = {
  stdio: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'draft'],
  http: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
  sse: ['2024-11-05'],
  ws: ['2025-06-18', '2025-11-25', '2026-07-28'],
};

function ends(table) {
  return Object.entries(table).flatMap(([transport, revisions]) =>
    revisions.map((revision) => ({ revision, transport })),
  );
}

/** Official clients, before servers of the same revision. */
const PEERS = ['SDK v1 2025-11-25', 'SDK v2 2025-11-25', 'SDK v2 2026-07-28'].flatMap((name) => {
  const [, peer, revision] = /^(SDK v\d) (.*)$/.exec(name);
  const pairs = [
    ['stdio', 'http'],
    ['http', 'http'],
    ['http', 'stdio'],
    ['stdio', 'stdio'],
  ];
  return pairs.map(([from, to]) => ({
    client: { revision, transport: from, peer },
    server: { revision, transport: to },
  }));
});

const RAW = ends(CLIENTS).flatMap((client) => ends(SERVERS).map((server) => ({ client, server })));

export function nameOf({ client, server }) {
  return `${endName(client)} → ${endName(server)}`;
}

export const CELLS = [...RAW, ...PEERS];

/** Whether a conversation can be played there; official clients play only what their interface has. */
export function isPlayable({ only, isForPeers }, cell) {
  return only(cell) && (cell.client.peer === undefined || isForPeers === true);
}

export function endName({ revision, transport, peer }) {
  return `${peer ? `${peer} ` : ''}${revision} ${transport}`;
}
