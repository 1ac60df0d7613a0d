// Where a behaviour may come out otherwise through the gateway, and why. An entry fits by the names of behaviours, the cell and
// the place of the difference in what the behaviour gave. One that no difference needs is stale and fails the run.
//
// Ids (of messages, progress, subscriptions, tasks) are chosen by each side and are compared as such: see peers/peer.mjs.
const bridged = ({ isBridged }) => isBridged;

export const EXPECTED = [
  {
    behaviours: ['client info and capabilities at the server'],
    cells: bridged,
    at: /^\/gave\/(info|others)\//,
    reason: 'a connection that clients may share is opened in the name of the gateway',
  },
  {
    behaviours: ['task: unknown'],
    reason: 'tasks have ids of the gateway; one that it never gave out is refused by the gateway, in its own words',
  },
  {
    behaviours: ['revision'],
    cells: bridged,
    reason: 'the two sides speak different eras; this is what the gateway is for',
  },
  {
    behaviours: ['capabilities', 'capabilities: extensions', 'tool: execution', 'tools/list: the last page'],
    cells: bridged,
    at: /^\/gave(\/tasks|\/execution|\/result\/tools\/0\/execution)?$/,
    reason: 'tasks are a capability and a member of a tool in 2025-11-25, and an extension in 2026-07-28',
  },
  {
    behaviours: ['error: resource not found, -32002'],
    cells: bridged,
    at: /\/code$/,
    reason: '2026-07-28 has -32602 for a resource that is not there',
  },
  {
    behaviours: ['elicitation by URL'],
    cells: bridged,
    at: /\/elicitationId$/,
    reason: '2026-07-28 has no ids of elicitations',
  },
  {
    behaviours: ['error: unknown method'],
    cells: ({ isBridged, way }) => isBridged && way.client === 'http',
    reason: '2026-07-28 answers an unknown method with HTTP status 404, and its client then reports the body as text',
  },
  {
    behaviours: ['client info and capabilities at the server'],
    cells: bridged,
    at: /\/roots\/listChanged$/,
    reason: 'a client of 2026-07-28 cannot tell that its roots changed',
  },
  {
    behaviours: ['elicitation: _meta of question and answer'],
    cells: bridged,
    at: /\/result\/_meta$/,
    reason: 'in 2026-07-28 the answer to an elicitation has no `_meta`, and the client of the SDK leaves it out',
  },
  {
    behaviours: ['content: missing', 'an empty result'],
    cells: bridged,
    at: /\/content$/,
    reason: '2026-07-28 demands content, which the server left out',
  },
  {
    behaviours: ['cancel: the reason'],
    cells: ({ isBridged, way }) => isBridged && way.client === 'http',
    reason: 'over HTTP a client of 2026-07-28 cancels by closing its connection, which carries no reason',
  },
];
