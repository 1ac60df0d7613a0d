// Normalizes a valid configuration. Pure and idempotent.
import { resolve } from 'node:path';
import { normalizeAsk, normalizeRoot } from './normalize-ask.ts';
import { normalizeAuth } from './normalize-auth.ts';
import { normalizeLogin } from './normalize-login.ts';
import type { FlowsConfig, ListenConfig, ParleyConfig, ServerConfig } from './config.ts';
import { TRANSPORTS } from './check/schema.ts';
import type { ConfigInput, FlowsInput, ListenInput, ServerInput } from './check/schema.ts';
import { toServerName } from './check/server-names.ts';
import { splitStep, normalizeStep } from './normalize-step.ts';
import { listServers } from './check/validate-config.ts';
import { isPem } from './redact-config.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './settings.ts';

/** Claude Code ignores smaller values as well, since `timeout` is in milliseconds. */
const MIN_TIMEOUT_MS = 1000;

/** `folder`: the folder of the file, where relative paths start. */
export function normalizeConfig(input: ConfigInput, folder: string): ParleyConfig {
  const { listen = {}, names = 'always', groups = {}, steps = [], limits = {}, keys = [], log = {} } = input;
  const forms = steps.map((step) => normalizeStep(step, folder));
  const level = typeof log === 'string' ? log : log.level;
  const servers = listServers(input).map(({ name, server }): [string, ServerConfig] => [
    name,
    toServer(server, folder, input.share),
  ]);
  return freeze(
    defined({
      servers: Object.fromEntries(servers),
      groups: Object.fromEntries(
        Object.entries(groups).map(([name, of]) => [toServerName(name), unique(of.map(toServerName))]),
      ),
      listen: toListen(typeof listen === 'number' ? { port: listen } : listen, folder),
      names,
      startMs: input.startMs,
      steps: forms,
      rules: input.rules?.map((rule) => defined({ ...rule })),
      pins: toPins(input.pins),
      limits: { ...limits },
      rate: input.rate && defined({ ...input.rate }),
      keys: typeof keys === 'string' ? [keys] : [...keys],
      roots: input.roots?.map((root) => normalizeRoot(root, folder)),
      ask: input.ask && normalizeAsk(input.ask),
      publicUrl: input.publicUrl,
      auth: input.auth && normalizeAuth(input.auth, folder),
      observe: input.observe && defined(input.observe),
      audit: toAudit(input.audit),
      flows: input.flows && toFlows(input.flows, folder),
      // A user who lists the step "log" wants to see its lines.
      log: { level: level ?? (forms.some((form) => splitStep(form).name === 'log') ? 'info' : 'warn') },
    }),
  );
}

/** On unless it is switched off. */
function toAudit(audit: ConfigInput['audit'] = true): ParleyConfig['audit'] {
  if (typeof audit === 'object') return { arguments: audit.arguments ?? 'shapes' };
  return audit ? undefined : false;
}

function toFlows({ store = '', prefix, fileKey, keys = [] }: FlowsInput, folder: string): FlowsConfig {
  const path = /^sqlite:(.*)$/s.exec(store)?.[1];
  return defined({
    store: path === undefined ? store : `sqlite:${resolve(folder, path)}`,
    prefix,
    fileKey,
    keys: typeof keys === 'string' ? [keys] : [...keys],
  });
}

function toServer(server: ServerInput, folder: string, shared: ServerConfig['share'] = 'auto'): ServerConfig {
  const { description, share = shared, start = 'lazy', era, revision, idleMs, account, disabled = false } = server;
  const { trustAnnotations } = server;
  const timeout = (server.timeout ?? 0) >= MIN_TIMEOUT_MS ? server.timeout : undefined;
  const timeoutMs = server.timeoutMs ?? timeout ?? toMs(server.tool_timeout_sec);
  const tools = toToolRules(server);
  const rate = server.rate && defined({ ...server.rate });
  const settings = {
    description,
    share,
    account,
    start,
    era,
    revision,
    timeoutMs,
    idleMs,
    tools,
    rate,
    trustAnnotations,
    pins: toPins(server.pins),
    disabled,
  };
  const url = server.url ?? server.httpUrl ?? server.serverUrl;
  if (server.command === undefined && url !== undefined) {
    const auth = normalizeLogin(server, folder);
    return defined({ url, headers: { ...server.headers }, auth, transport: transportOf(server, url), ...settings });
  }
  const { command = '', args = [], env = {}, cwd, sandbox } = server;
  const folderOf = cwd === undefined ? undefined : resolve(folder, cwd);
  return defined({
    command,
    args: [...args],
    env: { ...env },
    cwd: folderOf,
    sandbox: toSandbox(sandbox, folder),
    ...settings,
  });
}

function toSandbox(sandbox: ServerInput['sandbox'], folder: string) {
  if (typeof sandbox !== 'object') return sandbox || undefined;
  const { write, ...rest } = sandbox;
  return defined({ ...rest, write: write?.map((path) => resolve(folder, path)) });
}

function toPins(pins: ConfigInput['pins']): ParleyConfig['pins'] {
  return typeof pins === 'object' ? defined({ ...pins }) : pins;
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined || seconds === 0 ? undefined : seconds * 1000;
}

/** Converts the tool rules of other clients to Parley's. */
function toToolRules({ tools, ...server }: ServerInput) {
  const { excludeTools = [], disabledTools = [], disabled_tools: disabled = [] } = server;
  const deny = [...(tools?.deny ?? []), ...excludeTools, ...disabledTools, ...disabled];
  const allow = tools?.allow ?? server.includeTools ?? server.enabled_tools;
  if (!tools && !allow && deny.length === 0) return undefined;
  return defined({ ...tools, allow, deny: deny.length > 0 ? deny : tools?.deny });
}

function transportOf({ type, transport, httpUrl }: ServerInput, url: string) {
  if (/^wss?:/i.test(url)) return 'websocket';
  const word = type ?? transport ?? (httpUrl === undefined ? undefined : 'streamable-http');
  const found = word && TRANSPORTS[word];
  return found === 'stdio' ? undefined : found;
}

function toListen(listen: ListenInput, folder: string): ListenConfig {
  const { host = DEFAULT_HOST, stdio = false, tls, open, trustProxy, allowedHosts, allowedOrigins } = listen;
  const port = listen.port ?? (stdio ? undefined : DEFAULT_PORT);
  return defined({
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

function unique(names: string[]): string[] {
  return [...new Set(names)];
}

/** Drops undefined keys, which would disturb comparisons. */
function defined<T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
