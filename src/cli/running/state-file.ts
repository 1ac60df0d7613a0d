// Tells other commands of this user which gateways run: one small file for each, in the user's state folder, and a socket to talk to it.
// A gateway that was killed leaves its file behind. Such files are ignored, and the next gateway that starts removes them.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../config/read/find-config.ts';
import { isObject } from '../../protocol/message.ts';
import { readEnvironment } from '../environment.ts';
import { openControlSocket, removeSocket } from './control-socket.ts';
import type { ControlHandlers } from './control-socket.ts';

export interface RunningGateway {
  pid: number;
  /** Ends in /mcp. Undefined where it serves its client on stdio alone. */
  url?: string | undefined;
  /** What it serves: a file, or a command. */
  serves: string;
  /** Where it is asked by other commands. */
  socket: string;
  /** ISO 8601. */
  started: string;
}

export function stateFolder({ env, home, platform = process.platform }: Environment): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'parley');
  const xdg = env['XDG_STATE_HOME'];
  // The XDG specification: a relative path is to be ignored.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), 'parley');
}

/** Of the user who runs this process. */
export function ownStateFolder(): string {
  return stateFolder(readEnvironment());
}

export interface GatewayAnnouncement extends ControlHandlers {
  url?: string | undefined;
  serves: string;
}

/** This process serves. Returns the way to take it back. Where no socket can be opened, other commands do not find it. */
export function announceGateway(
  { url, serves, ...controlled }: GatewayAnnouncement,
  folder = ownStateFolder(),
): () => void {
  const { pid } = process;
  // Another command on this machine cannot call "every address".
  const reachable = url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const started = new Date().toISOString();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { path: socket, close } = openControlSocket(folder, pid, controlled);
    const takeBack = writeStateFile(folder, { pid, url: reachable, serves, socket, started });
    return () => {
      takeBack();
      close();
    };
  } catch {
    return () => {};
  }
}

export function writeStateFile(folder: string, running: RunningGateway): () => void {
  const path = fileOf(folder, running.pid);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweep(folder);
    writeFileSync(path, `${JSON.stringify(running)}\n`, { mode: 0o600 });
  } catch {
    return () => {};
  }
  return () => rmSync(path, { force: true });
}

/** Those whose process is there, the newest first. */
export function listRunningGateways(folder: string): RunningGateway[] {
  const running = pidsIn(folder)
    .filter(isAlive)
    .flatMap((pid) => read(folder, pid) ?? []);
  return running.sort((a, b) => b.started.localeCompare(a.started));
}

function sweep(folder: string): void {
  for (const pid of pidsIn(folder)) {
    if (isAlive(pid)) continue;
    removeSocket(folder, pid, read(folder, pid)?.socket);
    rmSync(fileOf(folder, pid), { force: true });
  }
}

function pidsIn(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => Number(/^gateway-(\d+)\.json$/.exec(name)?.[1] ?? []));
  } catch {
    return []; // nobody has announced anything yet
  }
}

function read(folder: string, pid: number): RunningGateway | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(folder, pid), 'utf8'));
    const { url, started, socket, serves } = isObject(value) ? value : {};
    if (typeof started !== 'string' || typeof socket !== 'string' || typeof serves !== 'string') return undefined;
    return { pid, ...(typeof url === 'string' && URL.canParse(url) && { url }), serves, socket, started };
  } catch {
    return undefined; // just removed, or not whole: as good as not there
  }
}

function fileOf(folder: string, pid: number): string {
  return join(folder, `gateway-${pid}.json`);
}

/** EPERM: there is one, but of somebody else. It is not ours to talk to. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
