// The rooms of src: what each holds and may import. tests/package/layers.test.ts checks the imports and writes the
// table into AGENTS.md.
export interface Room {
  holds: string;
  /** The other rooms that it may import from, by their folders or by a folder that has several of them. */
  uses: readonly string[];
}

/** By folder, topmost first. A file belongs to the deepest folder of these that it is in. */
export const ROOMS: Record<string, Room> = {
  _entries: {
    holds: 'the public API, and nothing else',
    uses: ['testing', 'flow', 'gateway', 'sdk', 'mcp', 'kernel'],
  },
  cli: {
    holds:
      'the command `parley`: what can be typed (`args/`), a file or folder for each command that belongs to no feature (`commands/`), and what they share: `terminal/`, `serving/` a gateway, gateways that are `running/`, `trust/` of files, `login/`',
    uses: ['config', 'flow', 'gateway', 'sdk', 'people', 'mcp', 'kernel'],
  },
  config: {
    holds: 'configuration files: `read/`, `check/`, `apply/`',
    uses: ['flow', 'gateway', 'people', 'mcp', 'kernel'],
  },
  testing: {
    holds: 'what tests of users need: `testStep`, `testServer`, `testGateway`, `testFlow`',
    uses: ['flow', 'gateway', 'sdk', 'people', 'mcp', 'kernel'],
  },
  flow: {
    holds:
      'tools that ask: what authors write (`authoring/`), questions and the check of answers (`question/`), the replay of bodies (`engine/`), sessions (`session/`), stores (`store/`, `token/`), the wire of MCP Flow (`wire/`) and other ways to ask (`channel/`), `connectFlows` (`client/`), finding questions before a call (`explore/`), what operators do (`operator/`), `testFlow` (`testing/`)',
    uses: ['sdk', 'people', 'mcp', 'kernel'],
  },
  gateway: {
    holds: '`createGateway`, and the order in which a message passes its parts (`pipeline.ts`)',
    uses: ['gateway', 'people', 'mcp', 'kernel'],
  },
  'gateway/features': {
    holds: 'what a gateway can do for its users, a folder for each: steps, rules, pins, audit log, rates, logins …',
    uses: ['gateway/servers', 'gateway/router', 'gateway/chain', 'gateway/matching', 'people', 'mcp', 'kernel'],
  },
  'gateway/servers': {
    holds:
      'the servers behind a gateway: their connections (`connections/`), whose question it is (`questions/`), tasks (`tasks/`), servers that speak MCP Flow (`flow/`)',
    uses: ['mcp', 'kernel'],
  },
  'gateway/router': { holds: 'which server owns a name, a URI, a task', uses: ['kernel'] },
  'gateway/chain': {
    holds: 'the chain of steps, steps from files (`load/`) and their lives (`lifecycle/`)',
    uses: ['kernel'],
  },
  'gateway/matching': { holds: 'patterns of names and URIs', uses: ['kernel'] },
  sdk: { holds: '`createServer` (`server/`) and `connect` (`client/`)', uses: ['people', 'mcp', 'kernel'] },
  people: {
    holds:
      'questions to people whose clients cannot be asked: the page (`page/`), the model (`model/`), calls that are held; logins there (`login/`), and whose answers count (`trust/`)',
    uses: ['mcp/listen', 'kernel'],
  },
  'mcp/listen': {
    holds: 'transports in: HTTP, HTTP+SSE, WebSocket, stdio; sessions; who calls (`auth/`)',
    uses: ['mcp/eras', 'mcp/wire', 'kernel'],
  },
  'mcp/connect': {
    holds:
      'one connection to a server: transports (`links/`, `http/`), negotiation, logins there (`accounts/`), sandboxes (`sandbox/`)',
    uses: ['mcp/eras', 'mcp/wire', 'kernel'],
  },
  'mcp/tasks': { holds: 'calls that run on after their answer', uses: ['kernel'] },
  'mcp/eras': {
    holds: 'revisions and eras: towards clients (`serve/`) and servers (`speak/`)',
    uses: ['kernel'],
  },
  'mcp/flow': { holds: 'MCP Flow as its peers see it: states, prompts and one run', uses: ['kernel'] },
  'mcp/wire': { holds: 'bytes ↔ JSON-RPC', uses: ['kernel'] },
  kernel: {
    holds:
      'what all rooms speak: exchange, target, message, step (at its root), forms (`form/`), results as bytes (`raw/`); errors, limits, log, clock (`base/`), what a command is (`command/`), `containers/`, `crypto/`, `events/` and those who watch them, `files/`, `secrets/`, `state/`, `text/`, a guarded `fetch` (`net/`)',
    uses: [],
  },
};

/** The folder of ROOMS that a file of src belongs to. */
export function roomOf(path: string): string | undefined {
  const folders = path.split('/').slice(1, -1);
  for (let deep = folders.length; deep > 0; deep--) {
    const folder = folders.slice(0, deep).join('/');
    if (folder in ROOMS) return folder;
  }
  return undefined;
}

/** Whether `room` is `folder` or one of several in it. */
export function isIn(room: string, folder: string): boolean {
  return room === folder || room.startsWith(`${folder}/`);
}

/** The table of AGENTS.md. */
export function mapTable(): string {
  const row = (folder: string, { holds, uses }: Room) =>
    `| \`src/${folder}\` | ${holds} | ${uses.filter((used) => used !== folder).join(', ') || '–'} |`;
  return [
    '| folder | holds | may import from |',
    '|---|---|---|',
    ...Object.entries(ROOMS).map(([folder, room]) => row(folder, room)),
  ].join('\n');
}
