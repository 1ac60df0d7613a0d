// Keeps the secrets of a configuration out of what is shown: removes them from a normalized configuration, from problems and from the log.
// Values from the environment appear as ${NAME}; other values that are or may be secrets are hidden.
import { CONFINEMENT_KEYS } from '../mcp/connect/confinement-keys.ts';
import { pickKeys } from '../kernel/config/config-key.ts';
import {
  disguiseArgument,
  disguiseUrl,
  isSecret,
  registerSecret,
  registerUrlSecrets,
} from '../kernel/secrets/secret-shapes.ts';
import type { Disguise } from '../kernel/secrets/secret-shapes.ts';
import { MASKED } from '../kernel/secrets/secrets.ts';
import type { ConfigProblem } from './check/config-problems.ts';
import type { AuthConfig, FlowsConfig, LoginConfig, ModelConfig, ParleyConfig, ServerConfig } from './config.ts';

export function redactConfig(config: ParleyConfig, used: ReadonlyMap<string, string> = new Map()): ParleyConfig {
  const show = (text: string) => withReferences(text, used);
  const { servers, keys, steps, listen, ask, roots, flows, auth, state } = config;
  const { tls } = listen;
  return {
    ...config,
    servers: map(servers, (server) => redactServer(server, show)),
    listen: { ...listen, ...(tls && { tls: map(tls, (text) => (isPem(text) ? MASKED : show(text))) }) },
    steps: deep(steps, show) as typeof steps,
    keys: keys.map((key) => hide(key, show)),
    ...(flows && { flows: redactFlows(flows, show) }),
    ...(state !== undefined && { state: disguiseUrl(state, toDisguise(show)) }),
    ...(roots && { roots: roots.map((root) => ({ ...root, uri: show(root.uri) })) }),
    ...(auth && { auth: redactAuth(auth, show) }),
    ...(ask?.model && { ask: { ...ask, model: redactModel(ask.model, show) } }),
  };
}

type Show = (text: string) => string;

function redactServer(server: ServerConfig, show: Show): ServerConfig {
  if ('command' in server) {
    const { command, args, env, cwd } = server;
    return {
      ...server,
      command: show(command),
      args: args.map((argument, index) => disguiseArgument(argument, args[index - 1], toDisguise(show))),
      env: map(env, (value) => hide(value, show)),
      ...(cwd !== undefined && { cwd: show(cwd) }),
      ...(deep(pickKeys(CONFINEMENT_KEYS, server), show) as object),
    };
  }
  const { url, headers, auth } = server;
  const hidden = auth && { auth: redactLogin(auth, show) };
  return {
    ...server,
    url: disguiseUrl(url, toDisguise(show)),
    headers: map(headers, (value) => hide(value, show)),
    ...hidden,
  };
}

function redactLogin(auth: LoginConfig, show: Show): LoginConfig {
  const { clientKey, assertion, idp, exchange, ...rest } = auth;
  return {
    ...(deep(rest, show) as typeof rest),
    ...(clientKey !== undefined && { clientKey: isPem(clientKey) ? MASKED : show(clientKey) }),
    ...(assertion !== undefined && { assertion: hide(assertion, show) }),
    ...(exchange && { exchange: map({ ...exchange }, (text) => show(text ?? '')) }),
    ...(idp && { idp: { ...(deep(idp, show) as typeof idp), tokenEndpoint: show(idp.tokenEndpoint ?? '') } }),
  };
}

function redactFlows(flows: FlowsConfig, show: Show): FlowsConfig {
  const { store, fileKey, keys } = flows;
  return {
    ...flows,
    store: store.includes('://') ? disguiseUrl(store, toDisguise(show)) : show(store),
    ...(fileKey !== undefined && { fileKey: hide(fileKey, show) }),
    keys: keys.map((key) => hide(key, show)),
  };
}

function redactAuth(auth: AuthConfig, show: Show): AuthConfig {
  const { keys, issuers, front } = auth;
  return {
    ...auth,
    ...(keys && { keys: keys.map((one) => ({ ...one, ...(one.key !== undefined && { key: hide(one.key, show) }) })) }),
    ...(front && { front: redactFront(front, show) }),
    ...(issuers && {
      issuers: issuers.map((issuer) => ({
        ...issuer,
        ...(issuer.introspection && { introspection: redactClient(issuer.introspection, show) }),
        ...(issuer.pages && { pages: redactClient(issuer.pages, show) }),
      })),
    }),
  };
}

function redactFront(front: NonNullable<AuthConfig['front']>, show: Show): NonNullable<AuthConfig['front']> {
  const { clients } = front;
  return { ...redactClient(front, show), ...(clients && { clients: clients.map((one) => redactClient(one, show)) }) };
}

function redactClient<C extends { clientSecret?: string | undefined }>(client: C, show: Show): C {
  const { clientSecret } = client;
  return clientSecret === undefined ? client : { ...client, clientSecret: hide(clientSecret, show) };
}

function redactModel(model: ModelConfig, show: Show): ModelConfig {
  const { url, key, headers } = model;
  const hidden = key === undefined ? {} : { key: hide(key, show) };
  return {
    ...model,
    url: disguiseUrl(url, toDisguise(show)),
    ...hidden,
    headers: map(headers, (value) => hide(value, show)),
  };
}

function toDisguise(show: Show): Disguise {
  return { show, hide: (text) => hide(text, show) };
}

/** Hides the text unless all of it is a reference. */
function hide(text: string, show: Show): string {
  const shown = show(text);
  return /^(?:(?:Bearer|Basic|Token) )?\$\{[^{}]+\}$/i.test(shown) ? shown : MASKED;
}

function deep(value: unknown, show: Show, name = ''): unknown {
  if (typeof value === 'string') return isSecret(name, value) ? hide(value, show) : show(value);
  if (Array.isArray(value)) return value.map((item) => deep(item, show, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner, show, key)]));
}

function map<T extends object>(record: T, change: (value: T[keyof T]) => T[keyof T]): T {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value as T[keyof T])])) as T;
}

/** Whether the text is a key or certificate itself, not the name of a file. */
export function isPem(text: string): boolean {
  return text.includes('-----BEGIN');
}

/** Replaces long values first, as one may contain another. Values under four characters occur by chance. */
function withReferences(text: string, used: ReadonlyMap<string, string>): string {
  const whole = used.get(text);
  if (whole !== undefined) return whole;
  const values = [...used.keys()].filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
  return values.reduce((shown, value) => shown.replaceAll(value, () => used.get(value)!), text);
}

export function problemsWithReferences(problems: ConfigProblem[], used: ReadonlyMap<string, string>): ConfigProblem[] {
  if (used.size === 0) return problems;
  return problems.map((one) => ({
    ...one,
    message: withReferences(one.message, used),
    hint: withReferences(one.hint, used),
  }));
}

/**
 * Keeps the secrets of a configuration out of Parley's own words: the values of its references, and what `redactConfig` hides. Those of servers
 * are kept where servers are opened (mcp/connect/address.ts), as programs open some without a configuration.
 */
export function registerConfigSecrets(config: ParleyConfig | undefined, used: ReadonlyMap<string, string>): void {
  for (const [value, reference] of used) registerSecret(isStored(reference) ? 'secret' : nameIn(reference), value);
  if (!config) return;
  const { keys, flows, auth, ask, listen, state } = config;
  keepHidden({ keys, flows, auth, ask, listen }, redactConfig(config));
  if (state !== undefined) registerUrlSecrets(state);
}

/** A file or the output of a command, which nobody uses for anything else. */
function isStored(reference: string): boolean {
  return /^\$\{(?:file|cmd):/.test(reference);
}

function nameIn(reference: string): string {
  return /[A-Za-z_]\w*(?=(?::-[\s\S]*)?\}$)/.exec(reference)?.[0] ?? '';
}

function keepHidden(value: unknown, shown: unknown): void {
  if (typeof value === 'string' && shown === MASKED) return registerSecret('secret', value);
  if (typeof value !== 'object' || value === null || typeof shown !== 'object' || shown === null) return;
  for (const [key, inner] of Object.entries(value)) keepHidden(inner, (shown as Record<string, unknown>)[key]);
}

const MAX_WIDTH = 100;

/** A normalized configuration as JSON without secrets, with short values on one line. */
export function printConfig(config: ParleyConfig, used: ReadonlyMap<string, string> = new Map()): string {
  return print(redactConfig(config, used), '');
}

function print(value: unknown, indent: string): string {
  const line = oneLine(value);
  // The top level is always expanded, so that a small configuration looks like a large one.
  if (typeof value !== 'object' || value === null || (indent !== '' && indent.length + line.length <= MAX_WIDTH))
    return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Array.isArray(value)
    ? value.map((item) => print(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item, inner)}`);
  return entries.length === 0
    ? line
    : `${open}\n${entries.map((entry) => inner + entry).join(',\n')}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
