// Puts the command of a server into a sandbox that the machine has: Anthropic's sandbox-runtime (srt), else bubblewrap; or docker, if an image is
// named. Parley has no sandbox of its own. Loaded only for servers with `sandbox`. Invariants:
// 1. A server whose sandbox is not there does not start, unless `optional` says so.
// 2. What does not hold is said (`ServerSandbox.holds`), in the log and in the status.
import { createRequire } from 'node:module';
import { existsSync, readFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, isAbsolute, sep } from 'node:path';
import { tmpdir } from 'node:os';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { ownFolders } from '../../../kernel/secrets/own-folders.ts';
import type { ServerCommand } from '../links/server-command.ts';
import { checkPaths } from './fixed-paths.ts';
import { findOnPath } from '../links/find-on-path.ts';
import type { SandboxOptions } from './sandbox-options.ts';

/** What runs in place of the command. */
interface SandboxedCommand {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

interface ServerSandbox {
  kind: 'sandbox-runtime' | 'bubblewrap' | 'docker' | 'none';
  /** What it keeps the server from, and what not. */
  holds: string;
  /** Whether it holds all that was asked for. */
  isWhole: boolean;
  wrap(command: ServerCommand): SandboxedCommand;
}

const RUNTIME = '@anthropic-ai/sandbox-runtime';
const PROGRAM = join('dist', 'cli.js');

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

/**
 * Anthropic's sandbox-runtime (Linux, macOS, Windows): its command `srt` runs the server, with settings and a temporary folder of its own. It lets
 * programs reach the named hosts by way of a proxy, which they have to use: HTTP_PROXY and the like are set.
 */
function toRuntime(srt: readonly string[], server: ServerCommand, wanted: SandboxOptions): SandboxedCommand {
  const [program = '', ...before] = srt;
  const { command, args = [], cwd } = server;
  const folder = folderOf(JSON.stringify([command, args, cwd, wanted]));
  const settings = join(folder, 'settings.json');
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  writeFileSync(settings, JSON.stringify(toSettings(wanted, temporary)), { mode: 0o600 });
  return {
    command: program,
    args: [...before, '--settings', settings, '--', ...withoutCapabilities(), command, ...args],
    env: { NODE_USE_ENV_PROXY: '1', CLAUDE_CODE_TMPDIR: temporary },
  };
}

/** The runtime leaves root its capabilities, and with them the right to mount what is read-only as writable. On Linux it needs bubblewrap, which takes them. */
function withoutCapabilities(): string[] {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return [];
  return [findOnPath('bwrap') ?? 'bwrap', '--cap-drop', 'ALL', '--die-with-parent', '--dev-bind', '/', '/', '--'];
}

function toSettings({ write = [], hosts = [] }: SandboxOptions, temporary: string): object {
  const denyRead = ownFolders().filter((path) => existsSync(path));
  return {
    network: { allowedDomains: hosts, deniedDomains: [] },
    filesystem: { denyRead, allowRead: [], allowWrite: [...write, temporary], denyWrite: [] },
  };
}

/** One for each server, until this process ends. */
const folders = new Map<string, string>();

function folderOf(server: string): string {
  const known = folders.get(server);
  if (known !== undefined && existsSync(known)) return known;
  const made = mkdtempSync(join(tmpdir(), 'parley-sandbox-'));
  process.once('exit', () => {
    try {
      rmSync(made, { recursive: true, force: true });
    } catch {
      // the server that has just been killed may still write there
    }
  });
  folders.set(server, made);
  return made;
}

/** Other programs have sockets there. The names of hosts are looked up by way of the last one. */
const SHARED = ['/tmp', '/run'];
const RESOLVER = '/run/systemd/resolve';

/** Root would keep the right to mount what is read-only as writable. */
const BUBBLEWRAP_FLAGS = '--unshare-all --cap-drop ALL --die-with-parent --ro-bind / / --dev /dev --proc /proc'.split(
  ' ',
);
const TEMPORARY = '--setenv TMPDIR /tmp'.split(' ');

/**
 * Bubblewrap (Linux): the file system is read-only but for the named paths, Parley's own folders are hidden, and the network is there or not, because
 * bubblewrap cannot tell hosts apart. It ends with us, and everything inside with it.
 */
function toBubblewrap(bwrap: string, server: ServerCommand, wanted: SandboxOptions): SandboxedCommand {
  const { command, args = [], cwd = process.cwd() } = server;
  const { write = [], hosts = [] } = wanted;
  const own = ownFolders().filter((path) => existsSync(path));
  // The server itself may lie in a folder that is hidden.
  const named = [cwd, command, ...args].filter((path) => isAbsolute(path) && existsSync(path) && !isIn(path, write));
  const inTemporary = named.filter((path) => path.startsWith('/tmp/')).map((path) => path.split(sep, 3).join(sep));
  return {
    command: bwrap,
    args: [
      ...BUBBLEWRAP_FLAGS,
      ...SHARED.flatMap(hide),
      ...inTemporary.flatMap(show),
      ...(hosts.length > 0 ? ['--share-net', '--ro-bind-try', RESOLVER, RESOLVER] : []),
      ...write.flatMap((path) => ['--bind', path, path]),
      ...own.flatMap(hide),
      ...named.filter((path) => isIn(path, own)).flatMap(show),
      ...TEMPORARY,
      '--chdir',
      cwd,
      '--',
      command,
      ...args,
    ],
  };
}

function hide(folder: string): string[] {
  return ['--tmpfs', folder];
}

function show(path: string): string[] {
  return ['--ro-bind', path, path];
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder + sep));
}

const DOCKER_FLAGS =
  'run --rm --interactive --init --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'.split(' ');

/**
 * A container of the image that the configuration names. The command is one of the image. The named paths have the same names inside; the network
 * is there or not.
 */
function toDocker(docker: string, server: ServerCommand, wanted: SandboxOptions): SandboxedCommand {
  const { command, args = [], env = {}, cwd } = server;
  const { write = [], hosts = [], image = '' } = wanted;
  return {
    command: docker,
    args: [
      ...DOCKER_FLAGS,
      ...(hosts.length > 0 ? [] : ['--network', 'none']),
      // By name: values on a command line can be seen by every user of the machine.
      ...Object.keys(env).flatMap((name) => ['--env', name]),
      ...(cwd === undefined ? [] : ['--volume', `${cwd}:${cwd}:ro`, '--workdir', cwd]),
      ...write.flatMap((path) => ['--volume', `${path}:${path}`]),
      image,
      command,
      ...args,
    ],
  };
}
