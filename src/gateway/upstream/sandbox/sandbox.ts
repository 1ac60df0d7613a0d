// Puts the command of a server into a sandbox that the machine has: Anthropic's sandbox-runtime (srt), else bubblewrap; or docker, if an image is named. Parley
// has no sandbox of its own. Loaded only for servers with `sandbox`. Invariants:
// 1. A server whose sandbox is not there does not start, unless `optional` says so.
// 2. What does not hold is said (`ServerSandbox.holds`), in the log and in the status.
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../../shared/errors.ts';
import { checkPaths } from './fixed-paths.ts';
import { findOnPath } from './find-on-path.ts';
import type { ServerCommand } from '../links/prestart.ts';
import { toBubblewrap } from './bubblewrap.ts';
import { toDocker } from './docker.ts';
import { toRuntime } from './runtime.ts';

export interface SandboxOptions {
  /** Files and folders that the server may change. Everything else can only be read. */
  write?: readonly string[] | undefined;
  /** Hosts that it may reach, such as `api.example.com` or `*.example.com`; `*` is all. Default: none. */
  hosts?: readonly string[] | undefined;
  /** Run it in a container of this image, by docker. */
  image?: string | undefined;
  /** Start it without a sandbox if the machine has no sandbox. Default: it does not start. */
  optional?: boolean | undefined;
}

/** What runs in place of the command. */
export interface SandboxedCommand {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

export interface ServerSandbox {
  kind: 'sandbox-runtime' | 'bubblewrap' | 'docker' | 'none';
  /** What it keeps the server from, and what not. */
  holds: string;
  /** Whether it holds all that was asked for. */
  isWhole: boolean;
  wrap(command: ServerCommand): SandboxedCommand;
}

export function chooseSandbox(sandbox: SandboxOptions | true): ServerSandbox {
  const wanted = sandbox === true ? {} : sandbox;
  const { hosts = [], image, write = [] } = wanted;
  const changes = write.length === 0 ? 'it can change no files' : `it can change ${write.join(', ')}`;
  const named = hosts.length === 0 ? 'no network' : `it can reach ${hosts.join(', ')}`;
  const runtime = image !== undefined || hosts.includes('*') ? undefined : findRuntime();
  if (runtime !== undefined) {
    const wrap = checked(wanted, (one) => toRuntime(runtime, one, wanted));
    return { kind: 'sandbox-runtime', holds: `${changes}; ${named}`, isWhole: true, wrap };
  }
  const kind = image === undefined ? 'bubblewrap' : 'docker';
  const program = findOnPath(kind === 'docker' ? 'docker' : 'bwrap');
  if (program === undefined) return none(wanted, kind === 'docker' ? kind : `${RUNTIME} or bubblewrap`);
  const isWhole = hosts.length === 0 || hosts.includes('*');
  const network = isWhole ? named : `it can reach all hosts: ${kind} cannot tell them apart`;
  const toCommand = kind === 'docker' ? toDocker : toBubblewrap;
  const wrap = checked(wanted, (one) => toCommand(program, one, wanted));
  return { kind, holds: `${changes}; ${network}`, isWhole, wrap };
}

function checked({ write = [] }: SandboxOptions, wrap: ServerSandbox['wrap']): ServerSandbox['wrap'] {
  return (one) => {
    checkPaths(write);
    return wrap(one);
  };
}

function none({ optional = false }: SandboxOptions, needs: string): ServerSandbox {
  return {
    kind: 'none',
    holds: optional ? `it can do everything: ${needs} is not here` : `it does not start: ${needs} is not here`,
    isWhole: false,
    wrap: ({ command, args = [] }) => {
      if (!optional) throw new GatewayError('UPSTREAM_NO_SANDBOX', { server: command, needs });
      return { command, args: [...args] };
    },
  };
}

/** Its program, if it is installed beside Parley or on PATH, and what it needs is there. */
function findRuntime(): string[] | undefined {
  const needs = process.platform === 'linux' ? ['bwrap', 'socat', 'rg'] : [];
  if (needs.some((program) => findOnPath(program) === undefined)) return undefined;
  const own = installedRuntime();
  if (own !== undefined) return [process.execPath, own];
  const srt = findOnPath('srt');
  return srt === undefined ? undefined : [srt];
}

function installedRuntime(): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(RUNTIME) ?? [];
  const found = folders.map((folder) => join(folder, RUNTIME)).find((folder) => existsSync(join(folder, PROGRAM)));
  return found !== undefined && isForThisNode(found) ? join(found, PROGRAM) : undefined;
}

function isForThisNode(folder: string): boolean {
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { engines?: { node?: string } };
  const [major = 0, minor = 0] = (/\d+(?:\.\d+)?/.exec(engines?.node ?? '')?.[0] ?? '').split('.').map(Number);
  const [ours = 0, part = 0] = process.versions.node.split('.').map(Number);
  return ours > major || (ours === major && part >= minor);
}

const RUNTIME = '@anthropic-ai/sandbox-runtime';
const PROGRAM = join('dist', 'cli.js');
