// Tells other commands of this user which gateways run: one small file for each, in the user's state folder. A gateway that was
// killed leaves its file behind; such files are ignored, and swept away by the next gateway that starts.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Surroundings } from '../config/find.ts';
import { isObject } from '../protocol/message.ts';
import { surroundings } from './around.ts';

export interface RunningGateway {
  pid: number;
  /** Ends in /mcp. */
  url: string;
  /** ISO 8601. */
  started: string;
}

export function stateFolder({ env, home, platform = process.platform }: Surroundings): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'parley');
  const xdg = env['XDG_STATE_HOME'];
  // The XDG specification: a relative path is to be ignored.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), 'parley');
}

/** Of the user who runs this process. */
export function ownStateFolder(): string {
  return stateFolder(surroundings());
}

/** This process serves at the URL. Returns the way to take it back. */
export function announceHere(url: string): () => void {
  // Another command on this machine cannot call "every address".
  const reachable = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const running = { pid: process.pid, url: reachable, started: new Date().toISOString() };
  return announce(ownStateFolder(), running);
}

/** Returns the way to take it back. A folder that cannot be written to costs only what the file is for. */
export function announce(folder: string, running: RunningGateway): () => void {
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
export function runningGateways(folder: string): RunningGateway[] {
  const running = pidsIn(folder)
    .filter(isAlive)
    .flatMap((pid) => read(folder, pid) ?? []);
  return running.sort((a, b) => b.started.localeCompare(a.started));
}

function sweep(folder: string): void {
  for (const pid of pidsIn(folder)) if (!isAlive(pid)) rmSync(fileOf(folder, pid), { force: true });
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
    const { url, started } = isObject(value) ? value : {};
    return typeof url === 'string' && URL.canParse(url) && typeof started === 'string'
      ? { pid, url, started }
      : undefined;
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
