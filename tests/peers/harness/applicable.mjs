// Decides which features a cell has. A missing one is reported with the reason and counted as skipped.
import { FEATURES } from './features.mjs';

/** What some peers cannot do though the revision can; each with its reason. */
const LACKS = [
  {
    when: ({ server, variant, revision }) => server === 'v2' && variant === '-handler' && revision < '2026',
    features: ['cancellation', 'logging', 'resources/subscribe', 'list_changed', 'elicitation', 'sampling', 'roots'],
    reason: 'createMcpHandler serves the handshake era without sessions: nothing but answers to single requests',
  },
];

/** `[{ feature, lacking? }]` in order. */
export function featuresOf(cell) {
  return FEATURES.map((feature) => ({ feature, lacking: lacking(feature, cell) }));
}

/** Why this cell has less than its revision, if so. */
export function limitOf(cell) {
  return LACKS.find(({ when }) => when(cell))?.reason;
}

function lacking(feature, cell) {
  const { since, stateless = true, draft = false, clients, servers } = feature;
  const { revision } = cell;
  if (revision === 'draft') {
    if (!draft) return 'not in the draft dialect';
  } else if (revision >= '2026' && !revision.startsWith('DRAFT')) {
    if (!stateless) return 'not in the stateless era';
  } else if (since && rank(revision) < rank(since)) return `since ${since}`;
  if (clients && !clients.includes(cell.client)) return `the client of ${cell.client} does not have it`;
  if (servers && !servers.includes(cell.server)) return `the server of ${cell.server} does not have it`;
  return LACKS.find(({ when, features }) => when(cell) && features.includes(feature.name))?.reason;
}

/** DRAFT-2025-v3 stands between two dates. */
function rank(revision) {
  return revision === 'DRAFT-2025-v3' ? '2025-06-19' : revision;
}
