// The schema of a configuration: Parley's own keys and those of Claude Desktop, Claude Code, Cursor, Windsurf, VS Code, Codex and Gemini
// CLI, whose files are read unchanged. schema/parley.config.schema.json is generated from it.
import { FEATURE_KEYS } from '../../gateway/features/config.ts';
import { shapesOf } from '../../kernel/config/config-key.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import { LOG_LEVELS, SHARING } from '../settings.ts';
import { AUTH } from './auth-shape.ts';
import { SERVER } from './server-shape.ts';
import {
  MAX_MS,
  anything,
  choice,
  either,
  flag,
  foreign,
  integer,
  list,
  object,
  plain,
  record,
  text,
} from '../../kernel/config/shape.ts';
import type { TypedShape, TypeOf } from '../../kernel/config/shape.ts';

const SERVERS = record(either([SERVER, text('Its URL.')], 'A server, or just its URL.'), 'The servers, by name.');

/** The keys under which clients keep their servers. */
export const BLOCKS = ['mcpServers', 'servers', 'mcp_servers'] as const;

const LISTEN = object(
  {
    port: integer('Port for every HTTP transport; 0 takes a free one. Default: 8470.', { max: 65_535 }),
    host: text('Address to listen on. Default: 127.0.0.1.', { notEmpty: true }),
    stdio: flag('Serve one client on stdin and stdout; without "port", that one alone.'),
    tls: object(
      { key: text('PEM file, or PEM text.'), cert: text('PEM file, or PEM text.') },
      'Serve HTTPS and WSS. Paths are relative to this file.',
    ),
    open: flag('true: lets everybody in who reaches the port, without a token or login.'),
    trustProxy: either(
      [
        list(text('An address or network, such as 10.0.0.0/8.', { notEmpty: true }), 'Proxies.'),
        choice(['loopback'], 'Proxies on this machine.'),
        flag('true: every peer is a trusted proxy.'),
      ],
      'Proxies whose `X-Forwarded-For` or `Forwarded` says where clients come from (docs/guides/service.md). Default: none.',
    ),
    allowedHosts: list(text('A host name.'), 'Host names to answer to, in addition to loopback names.'),
    allowedOrigins: list(text('Such as https://app.example.com.'), 'Origins of web pages that may call.'),
  },
  'Where clients come in.',
);

const MODEL = object(
  {
    url: text("Endpoint of OpenAI's chat completions, or of anything compatible: https://api.example.com/v1."),
    key: text('Sent as a bearer token; name a variable.'),
    headers: record(plain('Its value.'), 'Further headers.'),
    model: either(
      [list(text('A name.'), 'Names.'), text('One name.')],
      'What the endpoint calls the model; of several, servers may choose by a hint, and the first is the default.',
    ),
    maxTokens: integer('Most tokens for one answer. Default: 4096.', { min: 1 }),
    maxConcurrent: integer('Answers that one principal may wait for at once. Default: 4.', { min: 1 }),
    timeoutMs: integer('How long the model may take. Default: 120000.', { min: 1, max: MAX_MS }),
    maxBytes: integer('Of a request, and of an answer. Default: 16777216.', { min: 1 }),
  },
  'The model that answers `sampling/createMessage` for clients that have no sampling. Default: none.',
);

const ASK = object(
  {
    channels: list(
      choice(['page', 'relay'], 'page: a page in the browser. relay: the model passes question and answer on.'),
      'How to ask users whose clients cannot ask them: on a page, or through the model. Default: both; an empty list: not at all.',
    ),
    trust: either(
      [
        list(text('stdio, key:NAME or user:NAME.', { notEmpty: true }), 'A list of clients.'),
        choice(['all'], 'all: everybody.'),
      ],
      'The clients whose forms may answer for a person, for approvals and questions that only a human may answer: "stdio", "key:NAME" (the name of a key of `parley key`), "user:NAME" (the user of a key or a login). Others answer on the page, in a browser of `parley pair`. "all" believes every client, and everyone who has a link. Default: ["stdio"].',
    ),
    model: MODEL,
  },
  'How users are asked (docs/questions.md).',
);

const ROOTS = list(
  either(
    [
      object(
        {
          path: text('A folder, relative to this file.', { notEmpty: true }),
          uri: text('Or its URI: file:///…', { notEmpty: true }),
          name: text('What it is called.'),
        },
        'One folder.',
      ),
      text('Its path or URI.', { notEmpty: true }),
    ],
    'One folder, or just its path or URI.',
  ),
  'Folders that servers may work in, for clients that name none of their own.',
);

const ABOUT_LIMITS: Record<keyof Limits, string> = {
  maxRequestBytes: 'Largest message accepted from a client, in bytes',
  maxUploadBytes: 'Largest form with files accepted from a person on the page, in bytes',
  maxResultBytes: 'Largest message accepted from a server, in bytes',
  maxDepth: 'Deepest nesting of a message',
  maxValues: 'Members and items of a message, in all',
  maxInFlight: 'Requests in flight per connection or session, and questions of a server per connection',
  maxBufferedBytes: 'Bytes waiting for a slow reader before it is given up',
  maxHeldBytes:
    'Bytes held for all peers together: bodies that arrive, what waits for slow readers, kept events. The peer that holds most is cut off first',
  maxQueued: 'Messages waiting for a client without an open stream',
  maxSessions: 'HTTP sessions at once',
  maxSessionsPerCaller: 'HTTP sessions of one caller at once: of one principal, else of one network address',
  sessionIdleMs: 'How long a session may be idle',
  maxConnections: 'Connections of one port at once',
  maxListens: 'Open listen streams at once',
  maxSubscriptions: 'Resources and tasks that one client may subscribe to',
  maxParked: 'Calls waiting for an answer from the user, per principal',
  parkedMs: 'For how long they wait',
  maxRounds: 'Rounds of questions within one call',
  maxShownChars: 'Characters of a question that only a person may answer; what is longer is refused',
  pairCodeMs: 'How long a code of `parley pair` works',
  maxPairTries: 'Wrong codes after which further wrong ones are refused as too many (429), for a minute',
  maxPool:
    'Calls of one principal that may ask, at work at once on one server, each on a connection of its own; later calls wait. A call whose question is open does not count',
  maxHops: 'Gateways that a request may pass before it reaches this one',
  maxProcesses: 'Processes of one server at once',
  ownIdleMs: 'How long a process that serves one client, or only lists, stays after its client has gone',
  pingMs:
    'How long a process may take to answer a ping before it is restarted, after a call timed out during which it said nothing',
  maxEvents: 'Events kept for resumption, per session',
  maxEventBytes: 'Bytes of events kept for resumption, per session',
  maxTasks: 'Tasks kept per principal',
  taskTtlMs: 'For how long a task is kept at most',
  pollMs: 'How long a long-poll waits',
  keepAliveMs:
    'How often an idle stream sends a comment, and a WebSocket a ping. The answer to a POST becomes a stream after that long in silence',
  primeMs: 'The same for a client whose revision can resume such a stream: it gets an event id to come back with',
  maxCallMs: 'How long a call to a server may take in all, however much progress it reports',
  drainMs:
    'How long `parley` finishes the calls of HTTP clients after SIGTERM; those that are left then end with an error',
  maxAuditFileBytes: 'Bytes of one file of the audit log; then a new file begins',
  maxAuditBytes: 'Bytes of all files of the audit log; the oldest are removed',
  maxAuditFiles: 'Files of the audit log; each process that records has its own',
};

const LIMITS: TypedShape<Partial<Limits>> = object(
  Object.fromEntries(
    Object.entries(DEFAULT_LIMITS).map(([name, value]: [string, number]) => [
      name,
      integer(`${ABOUT_LIMITS[name as keyof Limits]}. Default: ${value}.`, {
        min: 1,
        ...(name.endsWith('Ms') && { max: MAX_MS }),
      }),
    ]),
  ),
  'Upper bounds on what a client or server can make grow.',
);

const level = choice(
  LOG_LEVELS,
  'From which level on lines are written to stderr. Default: warn, or info with the step "log".',
);

export const CONFIG = object(
  {
    $schema: foreign('For editors.'),
    mcpServers: SERVERS,
    servers: { ...SERVERS, about: 'The same as "mcpServers", as VS Code writes it.' },
    mcp_servers: { ...SERVERS, about: 'The same as "mcpServers", as Codex writes it.' },
    inputs: list(
      object(
        {
          id: text('As in ${input:id}.', { notEmpty: true }),
          type: choice(['promptString', 'pickString', 'command'], 'As in VS Code.'),
          description: text('What to give.'),
          default: text('Taken when nothing is given.'),
          password: flag('As in VS Code.'),
          options: anything('As in VS Code.'),
          command: foreign('VS Code.'),
          args: foreign('VS Code.'),
        },
        'One value that VS Code would ask for: give it in the variable `PARLEY_INPUT_<ID>`.',
      ),
      'What `${input:id}` stands for, as in VS Code.',
    ),
    listen: either([LISTEN, integer('The port.', { max: 65_535 })], 'Where clients come in, or just the port.'),
    names: choice(
      ['always', 'on-collision'],
      'When the names of several servers get their server in front, as `server__name`. Default: always.',
    ),
    share: choice(
      SHARING,
      'How clients share servers that say nothing else; `share` of a server explains it. Default: auto.',
    ),
    startMs: integer(
      'How long a client may wait for servers that start, or are slow to list what they offer. Default: 10000.',
      { min: 1, max: MAX_MS },
    ),
    groups: record(list(text('Name of a server.'), 'Servers.'), 'Servers that are served together at `/mcp/<group>`.'),
    steps: list(
      either([text('A step without options.'), record(anything('Its options.'), 'A step with options.')], 'One step.'),
      'What every message passes, outermost first: names of built-in steps, or paths of .ts and .js files.',
    ),
    limits: LIMITS,
    ...shapesOf(FEATURE_KEYS),
    keys: either(
      [list(text('A key.'), 'Keys.'), text('One key.')],
      'Keys that encrypt and sign state that clients carry; newest first.',
    ),
    flows: object(
      {
        store: text('`sqlite:FILE`, relative to this file, `redis://…` or `postgres://…`.', { notEmpty: true }),
        prefix: text('Of the keys in Redis; default: parley:flow. In Postgres the schema; default: parley_flow.', {
          notEmpty: true,
        }),
        fileKey: text('The key of an encrypted SQLite file, or of an encrypted store in Postgres.', { notEmpty: true }),
        keys: either([list(text('A key.'), 'Keys.'), text('One key.')], 'The `keys` of `serveFlows`.'),
      },
      'Where `parley flows` and the console find sessions: `store`, and `prefix`, `fileKey` and `keys` where it has them (docs/cli.md). Servers do not read it.',
    ),
    roots: ROOTS,
    ask: ASK,
    auth: AUTH,
    publicUrl: text('The URL under which browsers reach this gateway, if it is not its own address.'),
    log: either(
      [object({ level }, 'What is logged.'), level],
      'What is logged, or just the level. Default: warn, or info with the step "log".',
    ),
  },
  'Configuration of Parley (docs/config.md).',
);

/** Other keys in a file belong to other programs. */
export const TOP_KEYS: readonly string[] = CONFIG.kind === 'object' ? Object.keys(CONFIG.keys) : [];

export type ConfigInput = TypeOf<typeof CONFIG>;
export type ListenInput = TypeOf<typeof LISTEN>;
export type FlowsInput = NonNullable<ConfigInput['flows']>;
export type AskInput = TypeOf<typeof ASK>;
export type ModelInput = TypeOf<typeof MODEL>;
export type RootInput = TypeOf<typeof ROOTS>[number];
