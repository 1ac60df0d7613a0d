// Which keys of a configuration a person sees before trusting it. Everything is shown that starts, sends, reads, lets in or loosens something; what only
// tightens, names or slows things down is not, so that the rest can be read. A key that no list has is shown, and fails shown-keys.test.ts.
import { FEATURE_KEYS, SERVER_FEATURE_KEYS } from '../../gateway/features/config.ts';
import { CONFINEMENT_KEYS } from '../../mcp/connect/confinement-keys.ts';
import type { AnyConfigKeys } from '../../kernel/config/config-key.ts';
import type { Shape } from '../../kernel/config/shape.ts';

const BLOCK = /^(?:mcpServers|servers|mcp_servers)(?:\.\*)?/;

/** Of every block of servers, under the one name `server`. */
const SERVER_PARTS =
  'command args env.* envFile cwd data url serverUrl httpUrl headers.* http_headers.* env_http_headers.* ' +
  'bearer_token_env_var env_vars auth.clientId auth.clientSecret auth.clientKey auth.clientMetadataUrl auth.grant auth.issuer auth.assertion auth.assertionFile auth.idp.tokenEndpoint ' +
  'auth.idp.clientId auth.idp.clientSecret auth.idp.idToken auth.idp.idTokenFile auth.exchange.tokenEndpoint auth.exchange.audience auth.exchange.resource auth.hosts auth.CLIENT_ID ' +
  'auth.CLIENT_SECRET auth.scopes scopes oauth.clientId share';

/** Keys of which a person should know. */
export const SHOWN_KEYS: ReadonlySet<string> = new Set([
  'server',
  ...SERVER_PARTS.split(' ').map((key) => `server.${key}`),
  ...(
    'listen.host listen.tls.key listen.tls.cert listen.open listen.trustProxy listen.allowedHosts listen.allowedOrigins share steps steps.* keys ' +
    'flows.store flows.prefix flows.fileKey flows.keys roots roots.path roots.uri ask.channels ask.trust ask.model.url ask.model.key ask.model.headers.* ' +
    'ask.model.model auth.keys.name auth.keys.key auth.keys.hash auth.keys.user auth.keys.scopes auth.keys.groups auth.keyFile auth.issuers auth.issuers.issuer auth.issuers.audience ' +
    'auth.issuers.jwksUrl auth.issuers.algorithms auth.issuers.groupsClaim auth.issuers.pages.clientId auth.issuers.pages.clientSecret auth.issuers.introspection.clientId ' +
    'auth.issuers.introspection.clientSecret auth.issuers.introspection.url auth.headers auth.adminScope auth.front.issuer auth.front.clientId auth.front.clientSecret auth.front.allow.* ' +
    'auth.front.groupsClaim auth.front.folder auth.front.clients.clientId auth.front.clients.clientSecret auth.front.clients.redirects auth.front.assertions publicUrl limits.*'
  ).split(' '),
  ...featureKeys(false),
]);

/** Keys that loosen nothing, and send nothing anywhere. Rules come after those of the user's own configuration, and steps of it stand outside. */
export const QUIET_KEYS: ReadonlySet<string> = new Set([
  ...(
    'server.description server.type server.transport server.start server.era server.revision server.timeoutMs server.timeout server.tool_timeout_sec server.idleMs server.disabled server.enabled ' +
    'server.includeTools server.excludeTools server.disabledTools server.enabled_tools server.disabled_tools ' +
    'server.auth.clientKeyAlgorithm server.auth.clientKeyId server.auth.dpop server.auth.callbackPort server.oauth.callbackPort inputs.id inputs.type ' +
    'inputs.description inputs.default inputs.password inputs.options listen listen.port listen.stdio names startMs groups.* ' +
    'roots.name ask.model.maxTokens ask.model.maxConcurrent ask.model.timeoutMs ask.model.maxBytes auth.keys.expires auth.issuers.pages.scopes auth.issuers.introspection.cacheMs ' +
    'auth.scopes auth.toolScopes.* auth.front.scopes auth.front.clients.name auth.dpop.required auth.dpop.nonce log log.level'
  ).split(' '),
  ...featureKeys(true),
]);

interface ConfigLeaf {
  /** Where it stands in the file. */
  path: readonly (string | number)[];
  /** The same without the names that an author chooses: `server.env.*`. */
  key: string;
  value: unknown;
}

/** Every value of a configuration that matches this shape. */
export function leavesOf(value: unknown, shape: Shape, path: ConfigLeaf['path'] = [], key = ''): ConfigLeaf[] {
  if (value === undefined || value === null || shape.kind === 'foreign') return [];
  if (shape.kind === 'either')
    return leavesOf(value, shape.of.find((one) => isFor(one, value)) ?? shape.of[0]!, path, key);
  const isEntry = typeof value === 'object';
  if (!isEntry || shape.kind === 'anything') return [{ path, key: key.replace(BLOCK, 'server'), value }];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (shape.kind === 'list') return leavesOf(inner, shape.of, [...path, Number(name)], key);
    const of = shape.kind === 'record' ? shape.of : shape.kind === 'object' ? shape.keys[name] : undefined;
    return of ? leavesOf(inner, of, [...path, name], joined(key, shape.kind === 'record' ? '*' : name)) : [];
  });
}

/** The keys of every value that a configuration may have. */
export function keysOf(shape: Shape, key = ''): string[] {
  if (shape.kind === 'foreign') return [];
  if (shape.kind === 'either') return shape.of.flatMap((one) => keysOf(one, key));
  if (shape.kind === 'list') return keysOf(shape.of, key);
  if (shape.kind === 'record') return keysOf(shape.of, joined(key, '*'));
  if (shape.kind === 'object') return Object.entries(shape.keys).flatMap(([name, of]) => keysOf(of, joined(key, name)));
  return [key.replace(BLOCK, 'server').replace(/^limits\..*/, 'limits.*')];
}

function joined(key: string, name: string): string {
  return key === '' ? name : `${key}.${name}`;
}

function isFor({ kind }: Shape, value: unknown): boolean {
  if (Array.isArray(value)) return kind === 'list';
  if (typeof value === 'object') return kind === 'object' || kind === 'record';
  if (typeof value === 'number') return kind === 'integer' || kind === 'plain';
  if (typeof value === 'boolean') return kind === 'flag' || kind === 'plain';
  return kind === 'text' || kind === 'choice' || kind === 'plain';
}

/** The keys of features; each feature lists those that loosen nothing. */
function featureKeys(isQuiet: boolean): string[] {
  const of = (keys: AnyConfigKeys, at: string): string[] =>
    Object.entries(keys).flatMap(([name, { shape, quiet }]) => {
      const silent = new Set(quiet.map((one) => joined(`${at}${name}`, one)));
      return keysOf(shape, `${at}${name}`).filter((key) => silent.has(key) === isQuiet);
    });
  return [...of(FEATURE_KEYS, ''), ...of(SERVER_FEATURE_KEYS, 'server.'), ...of(CONFINEMENT_KEYS, 'server.')];
}
