// Where a conversation through a gateway may differ from a direct one, and why. `at` fits the place without the tag of the request:
// `client tools/call /answer/result/_meta`. An entry that no difference needed is stale, and fails a whole run, unless it is about something
// that only sometimes happens (`sometimes`). `changes`: it need not be as in the last landed build.
import { DRAFT, eraOf } from './revisions.mjs';

const bridged = ({ client, server }) => eraOf(client.revision) !== eraOf(server.revision);
const hasDraft = ({ client, server }) => (client.revision === DRAFT) !== (server.revision === DRAFT);
const toStateless = (cell) => bridged(cell) && eraOf(cell.server.revision) === 'stateless';

export const EXPECTED = [
  {
    at: /^(client|server) (ping|logging\/setLevel) /,
    reason: 'the gateway answers pings of clients, and keeps the log level of each client; neither is for the server',
  },
  {
    conversation: /cancel after the answer$/,
    at: /^server \S+ \/cancels/,
    reason: 'a cancel of a call that has been answered ends at the gateway',
  },
  {
    conversation: /cancel with an open question$/,
    at: /^server \S+ \/answers\/0$/,
    reason: 'a question of a cancelled call is answered with an error, so that the server does not wait for ever',
  },
  {
    conversation: /^with the step timeout: cancel (while|with|after)/,
    cells: ({ client }) => eraOf(client.revision) === 'stateless' && client.transport === 'http',
    at: /^server \S+ \/cancels\/0\/reason$/,
    changes: true,
    reason:
      'over HTTP a client of 2026-07-28 cancels by closing its connection: the server is told so, where the step of the last landed build had lost why',
  },
  {
    conversation: /cancel (while|with|after)/,
    cells: ({ client }) => eraOf(client.revision) === 'stateless' && client.transport === 'http',
    at: /^server \S+ \/cancels\/0(\/(reason|_meta|x-extra|closed))?$/,
    reason: 'over HTTP a client of 2026-07-28 cancels by closing its connection, which carries no reason',
  },
  {
    conversation: /cancel (while|with|after)/,
    cells: ({ server }) => eraOf(server.revision) === 'stateless' && server.transport === 'http',
    at: /^server \S+ \/cancels\/0(\/(reason|_meta|x-extra|closed))?$/,
    reason: 'over HTTP a server of 2026-07-28 learns of a cancel when the connection closes',
  },
  {
    cells: toStateless,
    at: /^client \S+ \/questions\/\d+\/params\/_meta(\/mcp-parley\/key)?$/,
    reason:
      'the key of a question of 2026-07-28 is passed on in `_meta`, since a request of the handshake era has no place for it',
  },
  {
    cells: toStateless,
    at: /^server \S+ \/rounds\/\d+\/params\/_meta\/io\.modelcontextprotocol\/logLevel$/,
    reason: 'a handshake client gets log messages without asking; a server of 2026-07-28 sends them only when asked',
  },
  {
    cells: toStateless,
    conversation: /with log$/,
    at: /^client \S+ \/logs\/0$/,
    sometimes: true,
    reason: 'on one connection of 2026-07-28 nothing says which of two calls a log message belongs to',
  },
  {
    conversation: /^a client that leaves (in a call|with an open question)$/,
    at: /^server \S+ \/(cancels|answers)\/0$/,
    reason:
      'a call whose client has left is cancelled at the server, or on HTTP its connection closed, and its question answered with an error',
  },
  {
    conversation: /^error -32022/,
    at: /^client tools\/call \/answer\/error\/(code|message|data\/\w+)$/,
    changes: true,
    reason:
      "which revision the gateway and its server speak is not about the client: the error is not relayed as the client's own",
  },
  {
    at: /^server tasks\/\w+ \/rounds\/\d+\/params\/_meta\/mcp-parley\/unproven$/,
    reason: 'a gateway or server of ours behind this one must not take the answers in it for those of a person',
  },
  {
    conversation: /cancel while the login page is open$/,
    at: /^server tools\/call \/(cancels\/0|arrivals)$/,
    reason: 'a call that waits for a login has not reached the server: it is neither sent nor cancelled there',
  },
  {
    conversation: /subscri/,
    at: /^server (resources\/(un)?subscribe|subscriptions\/listen) /,
    reason: 'clients that cannot be asked share a connection, and one subscription there serves all of them',
  },
  {
    conversation: /^a (server that dies|configuration that changes) in a call$/,
    at: /^client notices \/\d+$/,
    reason: 'after a restart or a reload clients are asked to read the lists again',
  },
  {
    cells: ({ client }) => client.transport === 'stdio',
    at: /^client notices \/\d+$/,
    sometimes: true,
    reason:
      'two gateways of one person share their pins: when one has seen the tools for the first time, the other asks its client to read them again',
  },
  {
    cells: hasDraft,
    at: /^client \S+ \/(answer\/result|progress|answer$)/,
    changes: true,
    reason: 'a result of the draft dialect is `{ status, output }`, and progress is a percentage',
  },
  {
    cells: hasDraft,
    at: /^server \S+ \/rounds\/\d+\/params\/_meta\/(progressToken|io\.modelcontextprotocol\/)/,
    reason: 'the draft dialect has neither progress tokens nor capabilities of clients',
  },
  {
    cells: hasDraft,
    conversation: /cancel (while|with|after)/,
    at: /^server \S+ \/cancels\/0(\/(reason|_meta|x-extra))?$/,
    reason: 'a cancel of the draft dialect has no reason',
  },
];
