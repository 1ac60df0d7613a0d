// Where a scenario may come out otherwise through the gateway than directly, and why. An empty list means: nowhere.
// `client` and `server` are the revisions on the two sides, `upstream` is stdio or http; an absent one stands for all.
// An entry that no difference needs is stale and fails the run.
const NO_STREAM =
  'a server can let go of the stream of an answer only over HTTP in the handshake era; elsewhere there is none, and the call is answered at once';

export const EXPECTED_DIFFERENCES = [
  { scenario: 'server-sse-polling', client: '2025-11-25', upstream: 'stdio', reason: NO_STREAM },
  { scenario: 'server-sse-polling', client: '2025-11-25', server: '2026-07-28', upstream: 'http', reason: NO_STREAM },
];
