// The keys of one server: Parley's own, and those of the clients whose files are read unchanged.
import { URL_LINKS, schemesWith } from '../../mcp/connect/url-links.ts';
import type { UrlTransport } from '../../mcp/connect/address.ts';
import { ALL_REVISIONS, ERAS } from '../../mcp/eras/revisions.ts';
import { CONFINEMENT_KEYS } from '../../mcp/connect/confinement-keys.ts';
import { SERVER_FEATURE_KEYS } from '../../gateway/features/config.ts';
import { shapesOf } from '../../kernel/config/config-key.ts';
import { SHARING } from '../settings.ts';
import {
  MAX_MS,
  choice,
  flag,
  foreign,
  integer,
  list,
  object,
  plain,
  record,
  text,
} from '../../kernel/config/shape.ts';
import type { TypeOf } from '../../kernel/config/shape.ts';

/** The names of transports in use, with Parley's name for each; undefined means to detect it. */
export const TRANSPORTS: Readonly<Record<string, 'stdio' | UrlTransport | undefined>> = {
  stdio: 'stdio',
  http: undefined,
  ...Object.fromEntries(URL_LINKS.flatMap(({ words, transport }) => words.map((word) => [word, transport]))),
};
const transportWords = Object.keys(TRANSPORTS);

const GRANTS = ['client_credentials', 'jwt_bearer', 'id_jag', 'token_exchange'] as const;

const IDP = object(
  {
    tokenEndpoint: text('Its token endpoint.', { notEmpty: true }),
    clientId: text('The client registered there.', { notEmpty: true }),
    clientSecret: text('Its secret; name a variable.'),
    idToken: text('The ID token of the user; name a variable.'),
    idTokenFile: text('Or a file that holds it, read for every login.'),
  },
  'The identity provider of a company, for `id_jag`.',
);

const EXCHANGE = object(
  {
    tokenEndpoint: text("The token endpoint that exchanges tokens. Users' tokens go nowhere else.", { notEmpty: true }),
    audience: text('Whom the new token is for. Default: the URL of the server, as "resource".'),
    resource: text('The URL that the new token is for, if not that of the server.'),
  },
  'Where the tokens of users are exchanged (RFC 8693), for `token_exchange`.',
);

const SERVER_LOGIN = object(
  {
    clientId: text('A client that you registered at the login by hand.', { notEmpty: true }),
    clientSecret: text('Its secret; name a variable.'),
    clientKey: text('Or its private key: a PEM file, or PEM text (PKCS #8).'),
    clientKeyAlgorithm: text('Of the key. Default: ES256.'),
    clientKeyId: text('The id of the key, where the login needs it.'),
    clientMetadataUrl: text('The https URL of a client-id metadata document, used where the login supports them.'),
    scopes: list(text('A scope.'), 'What to ask for, if the server names nothing.'),
    grant: choice(
      GRANTS,
      'How a service logs in without a person: client_credentials as the client itself; jwt_bearer with "assertion"; id_jag by "idp"; token_exchange with the token of each user, by "exchange". Default: a person logs in.',
    ),
    issuer: text(
      'The authorization server that this secret, key or assertion is for, by its issuer URL. It is sent nowhere else. Default: the first one at which the login succeeds; in a file that needs trust it must be given.',
      { notEmpty: true },
    ),
    assertion: text('A JWT of the platform that runs Parley; name a variable.'),
    assertionFile: text('Or a file that holds it, read for every login.'),
    idp: IDP,
    exchange: EXCHANGE,
    dpop: flag('Bind tokens to a key (DPoP). Default: where the server demands it.'),
    callbackPort: integer('Loopback port of the redirect, for a client that was registered with one.', {
      min: 1,
      max: 65_535,
    }),
    hosts: list(text('A host name.'), 'Hosts of the login that may have private addresses.'),
    CLIENT_ID: text('The same as "clientId", as Cursor writes it.'),
    CLIENT_SECRET: text('The same as "clientSecret", as Cursor writes it.'),
  },
  'How to log in at this server (docs/logins.md). Without it, the server says how, and a person logs in.',
);

/** What Claude Code and VS Code write. */
const FOREIGN_LOGIN = object(
  {
    clientId: text('A client that you registered by hand.'),
    callbackPort: integer('Loopback port of the redirect.', { min: 1, max: 65_535 }),
  },
  'The same as "auth", as VS Code and Claude Code write it.',
);

const ABOUT_SHARING =
  'auto: clients share a process until the server asks one of them, which then has one of its own; connections to a URL are shared for lists, and clients that can be asked have one of their own for calls; session: every client has its own; all: they share one, and the server cannot ask them.';

export const SERVER = object(
  {
    description: text('What it is for; shown by `parley ls`.'),
    command: text('The program to start; it is found on PATH.', { notEmpty: true }),
    args: list(plain('One argument; no shell reads it.'), 'Arguments of the command.'),
    env: record(plain('Its value.'), 'Environment variables of the process, in addition to the few that it inherits.'),
    envFile: text('A file with more of them, NAME=value on each line; "env" wins.'),
    cwd: text(
      'Working folder of the process, relative to this file. Default: the folder of this file, or of its project; for your own files and those of clients in your home, where Parley was started.',
    ),
    data: list(
      text('A path.', { notEmpty: true }),
      'Files and folders of data that the command is given, relative to this file: a change of them does not end the trust in this file, unless they are code.',
    ),
    ...shapesOf(CONFINEMENT_KEYS),
    url: text(`Where it listens: ${schemesWith('://')}.`),
    serverUrl: text('The same as "url", as Windsurf writes it.'),
    httpUrl: text('The same as "url", Streamable HTTP only, as Gemini CLI writes it.'),
    headers: record(plain('Its value.'), 'HTTP headers sent with every request.'),
    auth: SERVER_LOGIN,
    type: choice(transportWords, 'How to talk to it. "http" finds out which HTTP transport it is.'),
    transport: choice(transportWords, 'The same as "type".'),
    share: choice(SHARING, `${ABOUT_SHARING} Default: the one for all servers.`),
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
    ...shapesOf(SERVER_FEATURE_KEYS),
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

export type ServerInput = TypeOf<typeof SERVER>;
export type LoginInput = TypeOf<typeof SERVER_LOGIN>;
