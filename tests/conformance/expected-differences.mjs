// Where a scenario may come out otherwise through the gateway than directly, and why. An empty list means: nowhere.
// `client` and `server` are the revisions on the two sides, or `SDK v2` for the server made with it; `upstream` is stdio or http. An
// absent one stands for all, `server` for all revisions.
// An entry that no difference needs is stale and fails the run, unless it says `mayBeSame`: it then depends on who is faster.
const NO_STREAM =
  'a server can let go of the stream of an answer only over HTTP in the handshake era; elsewhere there is none, and the call is answered at once';

export const EXPECTED_DIFFERENCES = [
  { scenario: 'server-sse-polling', client: '2025-11-25', upstream: 'stdio', reason: NO_STREAM },
  { scenario: 'server-sse-polling', client: '2025-11-25', server: '2026-07-28', upstream: 'http', reason: NO_STREAM },
  { scenario: 'server-sse-polling', client: '2025-11-25', server: 'SDK v2', upstream: 'stdio', reason: NO_STREAM },
  {
    scenario: 'server-sse-multiple-streams',
    client: '2025-11-25',
    server: 'SDK v2',
    mayBeSame: true,
    reason:
      'the SDK answers every POST with a stream, and the gateway a quick one with JSON: then no streams are there to be counted',
  },
];
