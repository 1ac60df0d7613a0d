// Normalizes a valid configuration. Pure and idempotent.
import { onlyLinkOf } from '../mcp/connect/url-links.ts';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolveStoreUrl } from '../flow/store/store-url.ts';
import type { TrustOption } from '../people/trust/answer-trust.ts';
import type { AuthInput } from './check/auth-shape.ts';
import { toServerName } from './check/check-server.ts';
import type { ConfigInput, FlowsInput, ListenInput, AskInput, ModelInput, RootInput } from './check/schema.ts';
import { TRANSPORTS } from './check/server-shape.ts';
import type { ServerInput } from './check/server-shape.ts';
import { isFileUri } from './check/validate-config.ts';
import { listServers } from './check/named-server.ts';
import type {
  FlowsConfig,
  ListenConfig,
  ParleyConfig,
  ServerConfig,
  AskConfig,
  RootConfig,
  AuthConfig,
  LoginConfig,
  ModelConfig,
} from './config.ts';
import { FEATURE_KEYS, SERVER_FEATURE_KEYS } from '../gateway/features/config.ts';
import { CONFINEMENT_KEYS } from '../mcp/connect/confinement-keys.ts';
import { normalizeKeys } from '../kernel/config/config-key.ts';
import { withoutUndefined } from '../kernel/config/without-undefined.ts';
import { splitStep, normalizeStep } from './normalize-step.ts';
import { isPem } from './redact-config.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './settings.ts';

/** Claude Code ignores smaller values as well, since `timeout` is in milliseconds. */
const MIN_TIMEOUT_MS = 1000;

/**
 * `folder`: the folder of the file, where relative paths start. `startsIn`: where commands start that name no folder; undefined: where Parley was
 * started.
 */
export function normalizeConfig(input: ConfigInput, folder: string, startsIn?: string): ParleyConfig {
  const { listen = {}, names = 'always', groups = {}, steps = [], limits = {}, keys = [], log = {} } = input;
  const forms = steps.map((step) => normalizeStep(step, folder));
  const level = typeof log === 'string' ? log : log.level;
  const servers = listServers(input).map(({ name, server }): [string, ServerConfig] => [
    name,
    toServer(withFolder(server, startsIn), folder, input.share),
  ]);
  return freeze(
    withoutUndefined({
      servers: Object.fromEntries(servers),
      groups: Object.fromEntries(
        Object.entries(groups).map(([name, of]) => [toServerName(name), unique(of.map(toServerName))]),
      ),
      listen: toListen(typeof listen === 'number' ? { port: listen } : listen, folder),
      names,
      startMs: input.startMs,
      steps: forms,
      limits: { ...limits },
      keys: typeof keys === 'string' ? [keys] : [...keys],
      roots: input.roots?.map((root) => toRoot(root, folder)),
      ask: input.ask && toAsk(input.ask),
      publicUrl: input.publicUrl,
      auth: input.auth && toAuth(input.auth, folder),
      ...normalizeKeys(FEATURE_KEYS, input, folder),
      flows: input.flows && toFlows(input.flows, folder),
      // A user who lists the step "log" wants to see its lines.
      log: { level: level ?? (forms.some((form) => splitStep(form).name === 'log') ? 'info' : 'warn') },
    }),
  );
}

/** What a file starts must not depend on the folder in which somebody stands. */
function withFolder(server: ServerInput, startsIn: string | undefined): ServerInput {
  return startsIn === undefined || server.cwd !== undefined ? server : { ...server, cwd: startsIn };
}

function toServer(server: ServerInput, folder: string, shared: ServerConfig['share'] = 'auto'): ServerConfig {
  const { description, share = shared, start = 'lazy', era, revision, idleMs, disabled = false } = server;
  const timeout = (server.timeout ?? 0) >= MIN_TIMEOUT_MS ? server.timeout : undefined;
  const timeoutMs = server.timeoutMs ?? timeout ?? toMs(server.tool_timeout_sec);
  const settings = {
    description,
    share,
    start,
    era,
    revision,
    timeoutMs,
    idleMs,
    ...normalizeKeys(SERVER_FEATURE_KEYS, { ...server, tools: toToolRules(server) }, folder),
    disabled,
  };
  const url = server.url ?? server.httpUrl ?? server.serverUrl;
  if (server.command === undefined && url !== undefined) {
    const auth = toLogin(server, folder);
    return withoutUndefined({
      url,
      headers: { ...server.headers },
      auth,
      transport: transportOf(server, url),
      ...settings,
    });
  }
  const { command = '', args = [], env = {}, cwd, data } = server;
  const folderOf = cwd === undefined ? undefined : resolve(folder, cwd);
  return withoutUndefined({
    command,
    args: [...args],
    env: { ...env },
    cwd: folderOf,
    data: data?.map((path) => resolve(folder, path)),
    ...normalizeKeys(CONFINEMENT_KEYS, server, folder),
    ...settings,
  });
}

/** Converts the tool rules of other clients to Parley's. */
function toToolRules({ tools, ...server }: ServerInput) {
  const { excludeTools = [], disabledTools = [], disabled_tools: disabled = [] } = server;
  const deny = [...(tools?.deny ?? []), ...excludeTools, ...disabledTools, ...disabled];
  const allow = tools?.allow ?? server.includeTools ?? server.enabled_tools;
  if (!tools && !allow && deny.length === 0) return undefined;
  return withoutUndefined({ ...tools, allow, deny: deny.length > 0 ? deny : tools?.deny });
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined || seconds === 0 ? undefined : seconds * 1000;
}

/** How to log in at a server, with one spelling of each key. Undefined if the entry says nothing about it. */
function toLogin({ auth, oauth, scopes: codex }: ServerInput, folder: string): LoginConfig | undefined {
  if (auth === undefined && oauth === undefined && codex === undefined) return undefined;
  const { CLIENT_ID, CLIENT_SECRET, idp, clientKey, assertionFile, ...rest } = auth ?? {};
  const at = (path: string | undefined): string | undefined => path && resolve(folder, path);
  return withoutUndefined({
    ...rest,
    clientId: rest.clientId ?? CLIENT_ID ?? oauth?.clientId,
    clientSecret: rest.clientSecret ?? CLIENT_SECRET,
    clientKey: clientKey !== undefined && isPem(clientKey) ? clientKey : at(clientKey),
    scopes: rest.scopes ?? codex,
    assertionFile: at(assertionFile),
    idp: idp && withoutUndefined({ ...idp, idTokenFile: at(idp.idTokenFile) }),
    callbackPort: rest.callbackPort ?? oauth?.callbackPort,
  });
}

function transportOf({ type, transport, httpUrl }: ServerInput, url: string) {
  const only = onlyLinkOf(/^\w+:/.exec(url)?.[0] ?? '');
  if (only) return only.transport;
  const word = type ?? transport ?? (httpUrl === undefined ? undefined : 'streamable-http');
  const found = word === undefined ? undefined : TRANSPORTS[word];
  return found === 'stdio' ? undefined : found;
}

function toListen(listen: ListenInput, folder: string): ListenConfig {
  const { host = DEFAULT_HOST, stdio = false, tls, open, trustProxy, allowedHosts, allowedOrigins } = listen;
  const port = listen.port ?? (stdio ? undefined : DEFAULT_PORT);
  return withoutUndefined({
    port,
    host,
    stdio,
    tls: tls && toPemPair(tls, folder),
    open,
    trustProxy,
    allowedHosts,
    allowedOrigins,
  });
}

export function toPemPair(
  { key, cert }: NonNullable<ListenInput['tls']>,
  folder: string,
): NonNullable<ListenConfig['tls']> {
  return { key: toPem(key, folder), cert: toPem(cert, folder) };
}

function toPem(text = '', folder: string): string {
  return isPem(text) ? text : resolve(folder, text);
}

/** Text that is neither a path nor a file URI has been refused before. */
function toRoot(root: RootInput, folder: string): RootConfig {
  if (typeof root === 'string') return toRoot(isFileUri(root) ? { uri: root } : { path: root }, folder);
  const { path = '.', uri = pathToFileURL(resolve(folder, path)).href, name } = root;
  return withoutUndefined({ uri, name });
}

function toAsk({ channels = ['page', 'relay'], trust, model }: AskInput): AskConfig {
  return withoutUndefined({
    channels: [...new Set(channels)],
    trust: trust as TrustOption | undefined,
    model: model && toModel(model),
  });
}

function toModel({ url = '', headers = {}, model = [], ...rest }: ModelInput): ModelConfig {
  const models = typeof model === 'string' ? [model] : [...model];
  return { url, headers: { ...headers }, model: models, ...withoutUndefined(rest) };
}

function toAuth({ keyFile, issuers, front, ...rest }: AuthInput, folder: string): AuthConfig {
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  return withoutUndefined({
    ...rest,
    keyFile: at(keyFile),
    issuers: issuers?.map((issuer) => (typeof issuer === 'string' ? { issuer } : issuer)),
    front: front && withoutUndefined({ ...front, folder: at(front.folder) }),
  }) as AuthConfig;
}

function toFlows({ store = '', prefix, fileKey, keys = [] }: FlowsInput, folder: string): FlowsConfig {
  return withoutUndefined({
    store: resolveStoreUrl(store, folder),
    prefix,
    fileKey,
    keys: typeof keys === 'string' ? [keys] : [...keys],
  });
}

function unique(names: string[]): string[] {
  return [...new Set(names)];
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
