// The normalized configuration: defaults filled in, short forms expanded, paths absolute. Plain frozen data, and itself a valid input that
// normalizes to the same.
import type { TrustOption } from '../people/trust/answer-trust.ts';
import type { AuthOptions, IssuerOptions } from '../mcp/listen/auth/auth-options.ts';
import type { TrustProxy } from '../mcp/listen/http/client-address.ts';
import type { Dialect } from '../kernel/era/era.ts';
import type { NamingMode } from '../gateway/router/public-names.ts';
import type { FEATURE_KEYS, SERVER_FEATURE_KEYS } from '../gateway/features/config.ts';
import type { NormalsOf } from '../kernel/config/config-key.ts';
import type { Limits } from '../kernel/base/limits.ts';
import type { UrlTransport } from '../mcp/connect/address.ts';
import type { CONFINEMENT_KEYS } from '../mcp/connect/confinement-keys.ts';
import type { LoginInput } from './check/server-shape.ts';
import type { LogLevel } from './settings.ts';
import type { StepConfig } from './normalize-step.ts';

export interface ParleyConfig extends NormalsOf<typeof FEATURE_KEYS> {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly listen: ListenConfig;
  readonly names: NamingMode;
  readonly startMs?: number;
  /** Each has one key, the name of a built-in step or the path of a file; its value has the options. */
  readonly steps: readonly StepConfig[];
  /** Only the given limits; kernel/base/limits.ts has the defaults. */
  readonly limits: Readonly<Partial<Limits>>;
  readonly keys: readonly string[];
  /** For clients without roots of their own. Absent: such clients have none. */
  readonly roots?: readonly RootConfig[];
  readonly ask?: AskConfig;
  readonly publicUrl?: string;
  readonly auth?: AuthConfig;
  readonly flows?: FlowsConfig;
  readonly log: { readonly level: LogLevel };
}

/** Issuers are objects, and paths absolute. */
export type AuthConfig = Omit<AuthOptions, 'issuers'> & { readonly issuers?: readonly IssuerOptions[] };

/** Used by `parley flows` only. */
export interface FlowsConfig {
  readonly store: string;
  readonly prefix?: string;
  readonly fileKey?: string;
  readonly keys: readonly string[];
}

export interface RootConfig {
  readonly uri: string;
  readonly name?: string;
}

export interface AskConfig {
  readonly channels: readonly ('page' | 'relay')[];
  readonly trust?: TrustOption;
  readonly model?: ModelConfig;
}

export interface ModelConfig {
  readonly url: string;
  readonly key?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: readonly string[];
  readonly maxTokens?: number;
  readonly maxConcurrent?: number;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

export type ServerConfig = CommandServer | UrlServer;

export interface CommandServer extends ServerCommon, NormalsOf<typeof CONFINEMENT_KEYS> {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Files and folders that are not compared with what was trusted, unless they are code. Absolute. */
  readonly data?: readonly string[];
}

interface UrlServer extends ServerCommon {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How to log in. Absent: the server says how. */
  readonly auth?: LoginConfig;
  /** Absent: detect it. */
  readonly transport?: UrlTransport;
}

/** As in the file, with one spelling of each key. */
export type LoginConfig = Omit<LoginInput, 'CLIENT_ID' | 'CLIENT_SECRET'>;

interface ServerCommon extends NormalsOf<typeof SERVER_FEATURE_KEYS> {
  readonly description?: string;
  readonly share: 'auto' | 'session' | 'all';
  readonly start: 'lazy' | 'eager';
  readonly era?: Dialect;
  readonly revision?: string;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly disabled: boolean;
}

export interface ListenConfig {
  /** Absent: stdio only. */
  readonly port?: number;
  readonly host: string;
  readonly stdio: boolean;
  /** Absolute paths, or PEM text. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Nobody needs a token or login. */
  readonly open?: boolean;
  readonly trustProxy?: TrustProxy;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

/** The servers that run. */
export function enabledServers(config: ParleyConfig): [string, ServerConfig][] {
  return Object.entries(config.servers).filter(([, server]) => !server.disabled);
}

/** It says where sessions are, for `parley flows`, and has nothing to serve. */
export function isForFlowsOnly(config: ParleyConfig): boolean {
  return config.flows !== undefined && Object.keys(config.servers).length === 0;
}
