// A command line that was understood.
import type { LogLevel } from '../config/settings.ts';
import type { CommandAddress, UrlAddress } from '../gateway/upstream/address.ts';
import type { Condition } from '../flow/operator/condition.ts';
import type { FLOW_ACTIONS, LS_KINDS, SHELLS } from './command-specs.ts';

export type LsKind = (typeof LS_KINDS)[number];
export type Shell = (typeof SHELLS)[number];

export interface DemoCommand {
  name: 'demo';
  /** Undefined: the default one, or the next that is free. */
  port: number | undefined;
  host: string;
  stdio: boolean;
  log: LogLevel | undefined;
}

export interface WrapCommand {
  name: 'wrap';
  server: CommandAddress | UrlAddress;
  revision: string | undefined;
  /** Undefined: on stdin and stdout. */
  port: number | undefined;
  host: string;
  startMs: number;
  /** Headers as they were typed, before what stands in ${…} was filled in. */
  typedHeaders: [name: string, text: string][];
  /** Whether users are asked whose clients cannot be. */
  isAsking: boolean;
  log: LogLevel | undefined;
  logCalls: boolean;
}

export interface ServeCommand {
  name: 'serve';
  config: string | undefined;
  port: number | undefined;
  host: string | undefined;
  stdio: boolean;
  share: 'auto' | 'session' | 'all' | undefined;
  log: LogLevel | undefined;
  logCalls: boolean;
}

export interface CheckCommand {
  name: 'check';
  config: string | undefined;
  /** Print the JSON Schema of configurations instead. */
  schema: boolean;
  print: boolean;
  json: boolean;
}

/** Where `ls`, `call`, `read`, `prompt` and `status` find somebody to talk to; none given: the gateway that runs here. */
export interface TargetOptions {
  url: string | undefined;
  headers: Record<string, string>;
  config: string | undefined;
  /** The gateway that is this process. */
  pid: number | undefined;
  /** A server to start for this one command. */
  server: CommandAddress | undefined;
  /** How long to wait for each answer; undefined: as long as the client waits by default. */
  timeoutMs: number | undefined;
  log: LogLevel | undefined;
}

export interface LsCommand extends TargetOptions {
  name: 'ls';
  /** Undefined: all of them. */
  what: LsKind | undefined;
  json: boolean;
}

export interface CallCommand extends TargetOptions {
  name: 'call';
  tool: string;
  /** As typed: what they mean depends on the tool. */
  args: [name: string, text: string][];
  body: Record<string, unknown>;
  yes: boolean;
  json: boolean;
}

export interface RunCommand {
  name: 'run';
  file: string;
  /** Which, where the file has several. */
  flow: string | undefined;
  /** As typed: what they mean depends on the flow. */
  args: [name: string, text: string][];
  /** A JSON file. */
  answers: string | undefined;
  json: boolean;
}

export interface ExploreCommand {
  name: 'explore';
  file: string;
  /** Undefined: beside the file. */
  out: string | undefined;
  /** Only say whether what is written is what would be written. */
  check: boolean;
}

export type FlowsAction = (typeof FLOW_ACTIONS)[number];

/** Sessions of flows, seen from outside. */
export interface FlowsCommand {
  name: 'flows';
  action: FlowsAction;
  /** Of the session, or the beginning of it. */
  id: string | undefined;
  /** As typed: what it means depends on the question. */
  value: string | undefined;
  args: [key: string, text: string][];
  /** `sqlite:FILE`, `redis://…` or `rediss://…`. */
  store: string | undefined;
  /** A configuration whose "flows" names the store. */
  config: string | undefined;
  /** Of the keys of a Redis store. */
  prefix: string | undefined;
  /** Names of variables. */
  fileKey: string | undefined;
  sealKeys: string[];
  /** A file with flows; what is asked for is done here then. */
  code: string | undefined;
  /** Undefined: whatever their state. */
  states: Condition[] | undefined;
  flow: string | undefined;
  principal: string | undefined;
  olderMs: number | undefined;
  newerMs: number | undefined;
  limit: number;
  reason: string | undefined;
  /** How long to wait for a server that takes over what was asked for, and for the steps that follow. */
  waitMs: number | undefined;
  /** Files with the new code. */
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
  | { name: 'completion'; shell: Shell | 'names' };

export type Command =
  | RunnableCommand
  | { name: 'version' }
  /** `of`: of one command. */
  | { name: 'help'; of: string | undefined }
  | { name: 'mistake'; reason: string; of: string | undefined };
