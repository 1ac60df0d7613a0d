// The types of parsed commands.
import type { LogLevel } from '../../config/settings.ts';
import type { CommandAddress, UrlAddress } from '../../gateway/upstream/address.ts';
import type { Condition } from '../../flow/header.ts';
import type { AuditCommand, LogsCommand } from './audit-commands.ts';
import type { KeyCommand } from './key-command.ts';
import type { LoginCommand } from './login-commands.ts';
import type { PairCommand } from './pair-command.ts';
import type { PinsCommand } from './pins-command.ts';
import type { PolicyCommand } from './policy-command.ts';
import type { TrustCommand } from './trust-command.ts';
import type { FLOW_ACTIONS, LS_KINDS, SHELLS, WRAP_PINS } from './command-specs.ts';

export type LsKind = (typeof LS_KINDS)[number];
export type Shell = (typeof SHELLS)[number];
type WrapPins = (typeof WRAP_PINS)[number];

export interface DemoCommand {
  name: 'demo';
  /** Undefined: the default port, or the next free one. */
  port: number | undefined;
  host: string;
  open: boolean;
  stdio: boolean;
  log: LogLevel | undefined;
}

export interface WrapCommand {
  name: 'wrap';
  server: CommandAddress | UrlAddress;
  revision: string | undefined;
  /** Undefined: serve on stdin and stdout. */
  port: number | undefined;
  host: string;
  /** Let everybody in, on an address that others can reach. */
  open: boolean;
  startMs: number;
  /** Headers as typed, with `${…}` not yet filled in. */
  typedHeaders: [name: string, text: string][];
  /** What happens when a definition of the server changes. Undefined: the default. */
  pins: WrapPins | undefined;
  /** Whether calls are recorded in the audit log. */
  isRecorded: boolean;
  /** Whether users are asked in another way when their client cannot ask them. */
  isAsking: boolean;
  log: LogLevel | undefined;
  logCalls: boolean;
}

export interface ServeCommand {
  name: 'serve';
  config: string | undefined;
  port: number | undefined;
  host: string | undefined;
  open: boolean;
  stdio: boolean;
  share: 'auto' | 'session' | 'all' | undefined;
  log: LogLevel | undefined;
  logCalls: boolean;
}

export interface CheckCommand {
  name: 'check';
  config: string | undefined;
  /** Print the JSON Schema of the configuration instead. */
  schema: boolean;
  print: boolean;
  json: boolean;
  /** Load the files of steps, which runs them. */
  runsSteps: boolean;
}

/** What `ls`, `call`, `read`, `prompt` and `status` connect to. Default: the gateway that runs here. */
export interface TargetOptions {
  url: string | undefined;
  headers: Record<string, string>;
  config: string | undefined;
  /** The process id of the gateway. */
  pid: number | undefined;
  /** A server to start for this command only. */
  server: CommandAddress | undefined;
  /** How long to wait for each answer. Undefined: the default of the client. */
  timeoutMs: number | undefined;
  log: LogLevel | undefined;
}

export interface LsCommand extends TargetOptions {
  name: 'ls';
  /** Undefined: all kinds. */
  what: LsKind | undefined;
  json: boolean;
}

export interface CallCommand extends TargetOptions {
  name: 'call';
  tool: string;
  /** As typed; the schema of the tool gives them their types. */
  args: [name: string, text: string][];
  body: Record<string, unknown>;
  yes: boolean;
  json: boolean;
}

export interface RunCommand {
  name: 'run';
  file: string;
  /** Which flow, if the file has several. */
  flow: string | undefined;
  /** As typed; the questions of the flow give them their types. */
  args: [name: string, text: string][];
  /** Path of a JSON file. */
  answers: string | undefined;
  json: boolean;
}

export interface ExploreCommand {
  name: 'explore';
  file: string;
  /** Undefined: next to the file. */
  out: string | undefined;
  /** Only report whether the written file is up to date. */
  check: boolean;
}

export type FlowsAction = (typeof FLOW_ACTIONS)[number];

/** Inspects and changes the sessions in a store. */
export interface FlowsCommand {
  name: 'flows';
  action: FlowsAction;
  /** The id of the session, or its beginning. */
  id: string | undefined;
  /** As typed; the question gives it its type. */
  value: string | undefined;
  args: [key: string, text: string][];
  /** `sqlite:FILE`, `redis://…` or `rediss://…`. */
  store: string | undefined;
  /** A configuration whose "flows" names the store. */
  config: string | undefined;
  /** Prefix of the keys in a Redis store. */
  prefix: string | undefined;
  /** Names of environment variables. */
  fileKey: string | undefined;
  sealKeys: string[];
  /** A file that exports the flows. With it, this process does the work itself. */
  code: string | undefined;
  /** Undefined: any state. */
  states: Condition[] | undefined;
  flow: string | undefined;
  principal: string | undefined;
  olderMs: number | undefined;
  newerMs: number | undefined;
  limit: number;
  reason: string | undefined;
  /** How long to wait for a server to take the request, and for the steps that follow. */
  waitMs: number | undefined;
  /** Files that export the new code. */
  against: string[];
  json: boolean;
}

export interface ReadCommand extends TargetOptions {
  name: 'read';
  uri: string;
  json: boolean;
}

export interface PromptCommand extends TargetOptions {
  name: 'prompt';
  prompt: string;
  args: [name: string, text: string][];
  json: boolean;
}

export interface StatusCommand extends TargetOptions {
  name: 'status';
  json: boolean;
  /** Only the lines to paste into clients. */
  lines: boolean;
}

export type RunnableCommand =
  | DemoCommand
  | WrapCommand
  | ServeCommand
  | CheckCommand
  | LsCommand
  | CallCommand
  | RunCommand
  | ExploreCommand
  | FlowsCommand
  | ReadCommand
  | PromptCommand
  | StatusCommand
  | KeyCommand
  | PairCommand
  | PinsCommand
  | PolicyCommand
  | TrustCommand
  | LoginCommand
  | LogsCommand
  | AuditCommand
  | { name: 'logins'; json: boolean }
  | { name: 'completion'; shell: Shell | 'names' };

export type Command =
  | RunnableCommand
  | { name: 'version' }
  /** `of`: the command to show help for. */
  | { name: 'help'; of: string | undefined }
  | { name: 'mistake'; reason: string; of: string | undefined };
