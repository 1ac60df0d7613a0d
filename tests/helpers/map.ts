// The folders of src: what each holds and may import. tests/package/layers.test.ts checks the imports and writes the
// table into AGENTS.md.
export interface Room {
  holds: string;
  /** The other folders that it may import from. */
  uses: readonly string[];
}

/** Topmost first. */
export const LAYERS: Record<string, Room> = {
  _entries: {
    holds: 'the public API, and nothing else',
    uses: ['client', 'flow', 'gateway', 'protocol', 'server', 'shared', 'testing'],
  },
  cli: {
    holds:
      'the command `parley`: what can be typed (`args/`), a file or folder for each command (`commands/`), and what they share: `terminal/`, `serving/` a gateway, gateways that are `running/`, `trust/` of files, `login/`',
    uses: ['client', 'config', 'flow', 'gateway', 'protocol', 'server', 'shared'],
  },
  config: {
    holds: 'configuration files: `read/`, `check/`, `apply/`',
    uses: ['gateway', 'protocol', 'shared'],
  },
  testing: {
    holds: 'what tests of users need: `testStep`, `testServer`, `testGateway`, `testFlow`',
    uses: ['client', 'flow', 'gateway', 'protocol', 'server', 'shared'],
  },
  flow: {
    holds:
      'tools that ask: what authors write (`authoring/`), questions and the check of answers (`question/`), the replay of bodies (`engine/`), sessions (`session/`), stores (`store/`, `token/`), the wire of MCP Flow (`wire/`) and other ways to ask (`channel/`), `connectFlows` (`client/`), finding questions before a call (`explore/`), what operators do (`operator/`), `testFlow` (`testing/`)',
    uses: ['client', 'gateway', 'protocol', 'server', 'shared'],
  },
  server: { holds: '`createServer`', uses: ['client', 'gateway', 'protocol', 'shared'] },
  client: { holds: '`connect`', uses: ['gateway', 'protocol', 'shared'] },
  gateway: { holds: '`createGateway`, and the stages below', uses: ['protocol', 'shared'] },
  protocol: { holds: 'the neutral model: exchange, target, message, step', uses: ['shared'] },
  shared: {
    holds:
      'errors, limits, log, clock, crypto, containers, files (`files/`), a guarded `fetch` (`net/`); imports nothing of MCP',
    uses: [],
  },
};

/** The stages of src/gateway in the order of a request; files in src/gateway itself connect them. */
export const STAGES: Record<string, Room> = {
  accept: {
    holds: 'transports in: HTTP, HTTP+SSE, WebSocket, stdio; sessions; who calls (`auth/`)',
    uses: ['codec', 'dialect'],
  },
  codec: { holds: 'bytes ↔ JSON-RPC', uses: [] },
  definitions: { holds: 'checks of what servers list: malformed entries, hidden characters, pins', uses: [] },
  dialect: { holds: 'revisions and eras: towards clients (`serve/`) and servers (`speak/`)', uses: [] },
  audit: {
    holds: 'the audit log: what is recorded, its files, reading and verifying them',
    uses: [],
  },
  observe: { holds: 'counters, spans, health', uses: [] },
  flow: {
    holds: 'MCP Flow: any tool for Flow clients (`emulate/`), Flow servers for any client (`play/`)',
    uses: ['ask'],
  },
  ask: {
    holds:
      'questions to people whose clients cannot be asked: the page (`page/`), the model (`model/`), calls that are held; logins there (`login/`), and whose answers count (`trust/`)',
    uses: [],
  },
  middleware: {
    holds:
      'the chain of steps (`chain/`), the built-in ones (`steps/`), steps from files (`load/`) and their lives (`lifecycle/`)',
    uses: [],
  },
  router: { holds: 'which server owns a name, a URI, a task', uses: [] },
  tasks: { holds: 'calls that run on after their answer', uses: [] },
  upstream: {
    holds:
      'the way to servers: transports (`links/`, `http/`), logins (`login/`), connections (`connections/`), whose question it is (`questions/`), tasks (`tasks/`), sandboxes (`sandbox/`)',
    uses: ['codec', 'dialect', 'flow', 'tasks'],
  },
};

/** The table of AGENTS.md. */
export function mapTable(): string {
  const row = (folder: string, { holds, uses }: Room) => `| \`${folder}\` | ${holds} | ${uses.join(', ') || '–'} |`;
  return [
    '| folder | holds | may import from |',
    '|---|---|---|',
    ...Object.entries(LAYERS).map(([folder, room]) => row(`src/${folder}`, room)),
    ...Object.entries(STAGES).map(([folder, room]) => row(`src/gateway/${folder}`, room)),
  ].join('\n');
}
