// Builds the options of createGateway and of its listen(), and the steps, from a normalized configuration.
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { HttpListenOptions } from '../../mcp/listen/http/listen-http.ts';
import type { GatewayOptions } from '../../gateway/gateway.ts';
import { FEATURE_KEYS, SERVER_FEATURE_KEYS } from '../../gateway/features/config.ts';
import { CONFINEMENT_KEYS } from '../../mcp/connect/confinement-keys.ts';
import { pickKeys } from '../../kernel/config/config-key.ts';
import { findBuiltIn } from '../../gateway/features/step-order.ts';
import { watchStep } from '../../gateway/chain/load/watch-step.ts';
import type { ConfiguredServer, ServerEntry } from '../../gateway/server-entry.ts';
import type { Step } from '../../kernel/step.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Log } from '../../kernel/base/log.ts';
import { enabledServers } from '../config.ts';
import type { ListenConfig, ParleyConfig, ServerConfig } from '../config.ts';
import { hasOptions, isStepFile, splitStep } from '../normalize-step.ts';
import { isPem } from '../redact-config.ts';
import { toLoginSettings } from './login-settings.ts';

export interface BuildStepOptions {
  log: Log;
  /** Where the step "log" writes. Default: JSON lines on stderr. */
  stepLog?: Log | undefined;
  /** Whether code may be loaded from the files of steps as they are at this moment. Default: yes. */
  isStillTrusted?: (() => boolean) | undefined;
  /** Called when a step has reloaded, as lists may have changed. */
  onStepReload?: (() => void) | undefined;
}

export interface BuildOptions extends Omit<BuildStepOptions, 'log'> {
  /** Default: JSON lines on stderr, from the configured level on. */
  log?: Log | undefined;
  checkStart?: GatewayOptions['checkStart'];
}

export interface BuiltSteps {
  /** Outermost first, as listed. */
  readonly steps: Step[];
  close(): void;
}

export interface BuiltGateway {
  /** For createGateway. */
  options: GatewayOptions;
  /** Close them with the gateway, or when new ones replace them. */
  steps: BuiltSteps;
}

export async function buildGateway(config: ParleyConfig, options: BuildOptions = {}): Promise<BuiltGateway> {
  const { log = createLog({ level: config.log.level }), checkStart } = options;
  const steps = await buildSteps(config, { ...options, log });
  return { options: { ...toOptions(config), steps: steps.steps, log, checkStart }, steps };
}

/** Steps from files reload when they change, until they are closed. */
export async function buildSteps({ steps }: ParleyConfig, options: BuildStepOptions): Promise<BuiltSteps> {
  const made: { step: Step; close(): void }[] = [];
  const close = () => made.forEach((step) => step.close());
  try {
    for (const form of steps) made.push(await buildStep({ ...splitStep(form), hasOptions: hasOptions(form) }, options));
    const hasFiles = steps.some((form) => isStepFile(splitStep(form).name));
    if (hasFiles && options.isStillTrusted?.() === false)
      throw new GatewayError('BAD_OPTION', { option: 'steps', reason: 'a file changed while it was loaded' });
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { steps: made.map(({ step }) => step), close };
}

async function buildStep(
  { name, options, ...given }: { name: string; options: Record<string, unknown>; hasOptions: boolean },
  { log, stepLog, onStepReload: onReload, isStillTrusted }: BuildStepOptions,
): Promise<{ step: Step; close(): void }> {
  if (isStepFile(name)) return watchStep(name, { ...(given.hasOptions && { options }), log, onReload, isStillTrusted });
  const create = findBuiltIn(name);
  if (!create) throw new GatewayError('BAD_OPTION', { option: 'steps', reason: `no step is called "${name}"` });
  const all = name === 'log' && stepLog ? { log: stepLog, ...options } : options;
  return { step: create(all), close: () => {} };
}

function toOptions(config: ParleyConfig): GatewayOptions {
  const { names, limits, keys, listen } = config;
  const { audit: _recorder, state: _url, ...features } = pickKeys(FEATURE_KEYS, config);
  const { trustProxy, allowedHosts, allowedOrigins } = listen;
  return {
    servers: toEntries(config),
    groups: toGroups(config),
    names,
    limits,
    ...(config.startMs !== undefined && { startMs: config.startMs }),
    ...features,
    ...(config.roots && { roots: config.roots }),
    ...(config.ask && { ask: config.ask }),
    ...(config.auth && { auth: config.auth }),
    ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl }),
    ...(keys.length > 0 && { keys }),
    ...(trustProxy !== undefined && { trustProxy }),
    ...(allowedHosts && { allowedHosts: [...allowedHosts] }),
    ...(allowedOrigins && { allowedOrigins: [...allowedOrigins] }),
  };
}

/** The entries of the enabled servers. The same or a kept server gives the same entry object, so that updates can compare. */
export function toEntries(config: ParleyConfig): Record<string, ServerEntry> {
  return Object.fromEntries(enabledServers(config).map(([name, server]) => [name, toEntry(server)]));
}

const entries = new WeakMap<ServerConfig, ConfiguredServer>();

function toEntry(config: ServerConfig): ConfiguredServer {
  const known = entries.get(config);
  if (known) return known;
  const { share, start, era, revision, timeoutMs, idleMs } = config;
  const features = pickKeys(SERVER_FEATURE_KEYS, config);
  const settings = { share, start, era, revision, timeoutMs, idleMs, ...features };
  const entry = { server: toAddress(config), ...settings };
  entries.set(config, entry);
  return entry;
}

function toAddress(config: ServerConfig) {
  if ('url' in config) {
    const { url, headers, transport } = config;
    return { url, headers, transport, auth: toLoginSettings(config.auth) };
  }
  const { command, args, env, cwd } = config;
  return { command, args: [...args], env, cwd, ...pickKeys(CONFINEMENT_KEYS, config) };
}

/** Lets `next` use the entry of `previous`, in all later updates, too. */
export function keepEntry(previous: ServerConfig, next: ServerConfig): void {
  entries.set(next, toEntry(previous));
}

/** Lets `next` use of the entry of `previous` what is the same there, such as its address, so that the server stays open. */
export function keepOpening(previous: ServerConfig, next: ServerConfig): void {
  const before: Record<string, unknown> = { ...toEntry(previous) };
  const { server: _address, ...settings } = toEntry(next);
  const kept = Object.entries(settings).map(([name, value]) => [
    name,
    isDeepStrictEqual(before[name], value) ? before[name] : value,
  ]);
  entries.set(next, { ...Object.fromEntries(kept), server: toEntry(previous).server } as ConfiguredServer);
}

export function toGroups(config: ParleyConfig): Record<string, string[]> {
  const running = new Set(enabledServers(config).map(([name]) => name));
  return Object.fromEntries(
    Object.entries(config.groups).map(([name, members]) => [name, members.filter((member) => running.has(member))]),
  );
}

/** Options for `gateway.listen`; reads the TLS files. */
export async function buildListeners({ listen }: ParleyConfig): Promise<(HttpListenOptions | { stdio: true })[]> {
  const { port, host, stdio, tls } = listen;
  const http = port === undefined ? [] : [{ port, host, ...(tls && { tls: await readTls(tls) }) }];
  return stdio ? [...http, { stdio: true }] : http;
}

export async function readTls({ key, cert }: NonNullable<ListenConfig['tls']>): Promise<{ key: string; cert: string }> {
  const read = (text: string) => (isPem(text) ? text : readFile(text, 'utf8'));
  return { key: await read(key), cert: await read(cert) };
}
