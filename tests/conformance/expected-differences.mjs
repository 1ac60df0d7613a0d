// Where a scenario may come out otherwise through the gateway than directly, and why. Empty means: nowhere.
// `client` and `server` are the revisions on the two sides, `upstream` is stdio or http; an absent one stands for all.
// An entry that no difference needs is stale and fails the run.
export const EXPECTED_DIFFERENCES = [
  // { scenario: 'name', client: '2026-07-28', server: '2025-11-25', upstream: 'stdio', reason: 'why it cannot be the same' },
];
