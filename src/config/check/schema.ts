// The schema of a configuration: Parley's own keys and those of Claude Desktop, Claude Code, Cursor, Windsurf, VS Code, Codex and Gemini
// CLI, whose files are read unchanged. schema/parley.config.schema.json is generated from it.
import { ALL_REVISIONS, ERAS } from '../../gateway/dialect/revisions.ts';
import { LOG_LEVELS, SHARING } from '../settings.ts';
import { AUTH } from './auth-shape.ts';
import { ASK, ROOTS } from './ask-shape.ts';
import { FOREIGN_LOGIN, SERVER_LOGIN } from './login-shape.ts';
import { RULES } from './rules/rules-shape.ts';
import { MAX_MS, limitsShape } from './limits-shape.ts';
import { RATE } from './rate-shape.ts';
import { anything, choice, either, flag, foreign, integer, list, object, plain, record, text } from './shape.ts';
import type { TypeOf } from './shape.ts';

/** The names of transports in use, with Parley's name for each; undefined means to detect it. */
export const TRANSPORTS = {
  stdio: 'stdio',
  http: undefined,
  'streamable-http': 'streamable-http',
  streamableHttp: 'streamable-http',
  sse: 'http+sse',
  'http+sse': 'http+sse',
  ws: 'websocket',
  websocket: 'websocket',
} as const;
export type TransportWord = keyof typeof TRANSPORTS;
const transportWords = Object.keys(TRANSPORTS) as TransportWord[];

const TOOL_RULES = object(
  {
    allow: list(text('A name or glob.'), 'Only these tools are there.'),
    deny: list(text('A name or glob.'), 'These tools are not there; wins over "allow".'),
    approve: either(
      [text('`destructive`, `always`, or a glob.'), list(text('A name or glob.'), 'These tools.')],
      'These tools need the approval of a person: `destructive`, `always`, or globs.',
    ),
  },
  'Rules for the tools of this server, by the names it gives them.',
);

const PIN_ACTIONS = ['destructive', 'flag', 'hold'] as const;
const PINS = either(
  [
    choice(
      [...PIN_ACTIONS, 'off'],
      'flag: it is reported; hold: neither listed nor callable until `parley pins accept`; destructive: held unless it only reads; off: nothing is pinned.',
    ),
    object(
      {
        changed: choice(PIN_ACTIONS, 'Tools and prompts that have changed. Default: destructive.'),
        new: choice(PIN_ACTIONS, 'Tools and prompts that were not there before. Default: destructive.'),
      },
      'The same for each kind of difference.',
    ),
  ],
  'What happens when a server changes what it lists after it was first seen (docs/safety.md#what-servers-say).',
);

const SHARED =
  'auto: clients share a process, or connection, for lists, and those that can be asked have one of their own for calls; session: every client has its own; all: they share one, and the server cannot ask them.';

const SERVER = object(
  {
    description: text('What it is for; shown by `parley ls`.'),
    command: text('The program to start; it is found on PATH.', { notEmpty: true }),
    args: list(plain('One argument; no shell reads it.'), 'Arguments of the command.'),
    env: record(plain('Its value.'), 'Environment variables of the process, in addition to the few that it inherits.'),
    envFile: text('A file with more of them, NAME=value on each line; "env" wins.'),
    cwd: text('Working folder of the process, relative to this file. Default: where Parley was started.'),
    sandbox: either(
      [
        object(
          {
            write: list(
              text('A path.'),
              'Files and folders that it may change, relative to this file. Everything else can only be read.',
            ),
            hosts: list(
              text('A host.'),
              'Hosts that it may reach, such as `api.example.com` or `*.example.com`; `*`: all. Default: none.',
            ),
            image: text('Run it in a container of this image, by docker.', { notEmpty: true }),
            optional: flag(
              'true: the server starts without a sandbox if the machine has no sandbox. Default: it does not start.',
            ),
          },
          'What it may do.',
        ),
        flag('true: it may change no files and reach no hosts.'),
      ],
      'Run the command in a sandbox of the machine (docs/safety.md). Default: no sandbox.',
    ),
    url: text('Where it listens: http://, https://, ws:// or wss://.'),
    serverUrl: text('The same as "url", as Windsurf writes it.'),
    httpUrl: text('The same as "url", Streamable HTTP only, as Gemini CLI writes it.'),
    headers: record(plain('Its value.'), 'HTTP headers sent with every request.'),
    auth: SERVER_LOGIN,
    type: choice(transportWords, 'How to talk to it. "http" finds out which HTTP transport it is.'),
    transport: choice(transportWords, 'The same as "type".'),
    share: choice(SHARING, `${SHARED} Default: the one for all servers.`),
    account: choice(
      ['user', 'shared'],
      'Whose account is used there (docs/logins.md). user: everybody logs in for themselves, and shares nothing. Default: shared.',
    ),
    start: choice(
      ['lazy', 'eager'],
      'eager: connected at once; with only stdio, when the client sends its first message. Default: when a client first needs it.',
    ),
    era: choice(ERAS, 'The only era to speak with it. Default: the era of each client, where the server has it.'),
    revision: choice(ALL_REVISIONS, 'The only revision to speak with it. Default: negotiated.'),
    timeoutMs: integer('How long a call may take, while it makes no progress.', { min: 1, max: MAX_MS }),
    timeout: integer('The same as "timeoutMs", as Claude Code writes it.', { max: MAX_MS }),
    idleMs: integer(
      'A connection that is unused for this long is closed, unless a client is subscribed to a resource.',
      { min: 1, max: MAX_MS },
    ),
    tools: TOOL_RULES,
    trustAnnotations: flag(
      'true: rules believe what the server says about its own tools, such as that one only reads. Default: false.',
    ),
    rate: { ...RATE, about: 'How often callers may call this server. Default: the rates for all servers.' },
    pins: { ...PINS, about: `${PINS.about} Default: the one for all servers.` },
    disabled: flag('true: as if it were not in the file.'),
    alwaysAllow: foreign('Cline and Windsurf.'),
    autoApprove: foreign('Cline.'),
    alwaysLoad: foreign('Claude Code.'),
    gallery: foreign('VS Code.'),
    version: foreign('VS Code.'),
    dev: foreign('VS Code.'),
    includeTools: list(text('A name.'), 'The same as "allow" of "tools", as Gemini CLI writes it.'),
    excludeTools: list(text('A name.'), 'The same as "deny" of "tools", as Gemini CLI writes it.'),
    disabledTools: list(text('A name.'), 'The same as "deny" of "tools", as Windsurf writes it.'),
    enabled_tools: list(text('A name.'), 'The same as "allow" of "tools", as Codex writes it.'),
    disabled_tools: list(text('A name.'), 'The same as "deny" of "tools", as Codex writes it.'),
    enabled: flag('false: the same as "disabled", as Codex writes it.'),
    tool_timeout_sec: integer('The same as "timeoutMs", in seconds, as Codex writes it.', {
      max: Math.floor(MAX_MS / 1000),
    }),
    http_headers: record(plain('Its value.'), 'The same as "headers", as Codex writes it.'),
    env_http_headers: record(
      text('A name.'),
      'Headers, each with the variable that holds its value, as Codex writes it.',
    ),
    bearer_token_env_var: text('The variable that holds a bearer token, as Codex writes it.'),
    oauth: FOREIGN_LOGIN,
    scopes: list(text('A scope.'), 'The same as "scopes" of "auth", as Codex writes it.'),
    env_vars: list(text('A name.'), 'Variables that the process inherits, as Codex writes it.'),
    startup_timeout_sec: foreign('Codex.', 'Use "startMs", which is for all servers.'),
    startup_timeout_ms: foreign('Codex.', 'Use "startMs", which is for all servers.'),
    default_tools_approval_mode: foreign('Codex.', 'For approvals of Parley, use "approve" of "tools".'),
    required: foreign('Codex.'),
    supports_parallel_tool_calls: foreign('Codex.'),
    oauth_resource: foreign('Codex.', "Parley takes it from the server's own metadata."),
    trust: foreign('Gemini CLI.'),
    headersHelper: foreign('Claude Code.', 'Give the headers in "headers".'),
    sandboxEnabled: foreign('VS Code.', 'Use "sandbox".'),
  },
  'One MCP server: a command to start, or a URL.',
);

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
    share: choice(SHARING, `For all servers: ${SHARED} Default: auto.`),
    startMs: integer(
      'How long a client may wait for servers that start, or are slow to list what they offer. Default: 10000.',
      { min: 1, max: MAX_MS },
    ),
    groups: record(list(text('Name of a server.'), 'Servers.'), 'Servers that are served together at `/mcp/<group>`.'),
    steps: list(
      either([text('A step without options.'), record(anything('Its options.'), 'A step with options.')], 'One step.'),
      'What every message passes, outermost first: names of built-in steps, or paths of .ts and .js files.',
    ),
    rules: RULES,
    pins: { ...PINS, about: `${PINS.about} Default: destructive.` },
    limits: limitsShape(),
    rate: RATE,
    keys: either(
      [list(text('A key.'), 'Keys.'), text('One key.')],
      'Keys that encrypt and sign state that clients carry; newest first.',
    ),
    observe: object(
      {
        metrics: flag('Counters at `/metrics`. Default: on ports of loopback addresses.'),
        tracing: flag('OpenTelemetry spans. Default: when an SDK is registered in the process.'),
      },
      'What is counted and traced (docs/observing.md).',
    ),
    audit: either(
      [
        object(
          {
            arguments: choice(
              ['shapes', 'values'],
              'What is recorded of the arguments of calls: their names, types and sizes, or the arguments themselves, without what looks like a secret. Default: shapes.',
            ),
          },
          'What is recorded.',
        ),
        flag('false: nothing is recorded.'),
      ],
      'What was called, approved and refused, in your state folder; `parley logs` shows it (docs/guides/see-what-happened.md). Default: on.',
    ),
    flows: object(
      {
        store: text('`sqlite:FILE`, relative to this file, or `redis://…`.', { notEmpty: true }),
        prefix: text('Of the keys of a Redis store. Default: parley:flow.', { notEmpty: true }),
        fileKey: text('The key of an encrypted SQLite file.', { notEmpty: true }),
        keys: either([list(text('A key.'), 'Keys.'), text('One key.')], 'The `keys` of `serveFlows`.'),
      },
      'Where `parley flows` finds sessions: `store`, and `prefix`, `fileKey` and `keys` where it has them (docs/cli.md). Servers do not read it.',
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
export type ServerInput = TypeOf<typeof SERVER>;
export type ListenInput = TypeOf<typeof LISTEN>;
export type FlowsInput = NonNullable<ConfigInput['flows']>;
