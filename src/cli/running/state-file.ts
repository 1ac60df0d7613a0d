// State files tell other commands of this user which gateways run: one small file for each gateway in the user's state folder, with the
// path of its control socket. A killed gateway leaves its file behind; others ignore it, and the next gateway that starts removes it.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../kernel/message.ts';
import { isLiveProcess } from '../../kernel/files/lease-holder.ts';
import { readOwnFile } from '../../kernel/files/private-file.ts';
import { openControlSocket, removeSocket } from './control-socket.ts';
import type { ControlHandlers } from './control-socket.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';

export interface RunningGateway {
  pid: number;
  /** Ends in /mcp. Undefined if it serves stdio only. */
  url?: string | undefined;
  /** It listens at all addresses of this machine, at those of IPv4 or of both. Else at the one of `url`. */
  wildcard?: '0.0.0.0' | '::' | undefined;
  /** `publicUrl` of its configuration. */
  publicUrl?: string | undefined;
  /** A configuration file or a wrapped command. */
  serves: string;
  /** Callers of the URL need the token of this user (gateway-token.ts). */
  asksToken?: boolean | undefined;
  /** Path of the control socket. */
  socket: string;
  /** ISO 8601. */
  started: string;
}

interface GatewayAnnouncement extends ControlHandlers {
  url?: string | undefined;
  publicUrl?: string | undefined;
  serves: string;
  asksToken?: boolean | undefined;
}

/** Announces this process; returns a function that withdraws it. If no socket can be opened, other commands do not find it. */
export function announceGateway(
  { url, publicUrl, serves, asksToken, ...controlled }: GatewayAnnouncement,
  folder = ownStateFolder(),
): () => void {
  const { pid } = process;
  // Other commands cannot connect to a wildcard address.
  const reachable = url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const wildcard = url?.includes('//0.0.0.0:') ? '0.0.0.0' : url?.includes('//[::]:') ? '::' : undefined;
  const started = new Date().toISOString();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { path: socket, close } = openControlSocket(folder, pid, controlled);
    const at: Pick<RunningGateway, 'url' | 'wildcard'> = { url: reachable, ...(wildcard && { wildcard }) };
    const takeBack = writeStateFile(folder, { pid, ...at, publicUrl, serves, asksToken, socket, started });
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
    rmSync(path, { force: true });
    writeFileSync(path, `${JSON.stringify(running)}\n`, { mode: 0o600, flag: 'wx' }); // never through a link of somebody else
  } catch {
    return () => {};
  }
  return () => {
    try {
      rmSync(path, { force: true });
    } catch {
      // others ignore the file of a process that has ended
    }
  };
}

/** Gateways whose process is alive, the newest first. */
export function listRunningGateways(folder: string): RunningGateway[] {
  const running = pidsIn(folder)
    .filter(isLiveProcess)
    .flatMap((pid) => read(folder, pid) ?? []);
  return running.sort((a, b) => b.started.localeCompare(a.started));
}

function sweep(folder: string): void {
  for (const pid of pidsIn(folder)) {
    if (isLiveProcess(pid)) continue;
    removeSocket(folder, pid, read(folder, pid)?.socket);
    rmSync(fileOf(folder, pid), { force: true });
  }
}

function pidsIn(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => Number(/^gateway-(\d+)\.json$/.exec(name)?.[1] ?? []));
  } catch {
    return []; // no gateway has been announced yet
  }
}

function read(folder: string, pid: number): RunningGateway | undefined {
  try {
    const value: unknown = JSON.parse(readOwnFile(fileOf(folder, pid)));
    const { url, wildcard, publicUrl, started, socket, serves, asksToken } = isObject(value) ? value : {};
    if (typeof started !== 'string' || typeof socket !== 'string' || typeof serves !== 'string') return undefined;
    const at = typeof url === 'string' && URL.canParse(url) && { url };
    const all = (wildcard === '0.0.0.0' || wildcard === '::') && ({ wildcard } as const);
    const known = typeof publicUrl === 'string' && URL.canParse(publicUrl) && { publicUrl };
    return { pid, ...at, ...all, ...known, ...(asksToken === true && { asksToken }), serves, socket, started };
  } catch {
    return undefined; // just removed, or not completely written
  }
}

function fileOf(folder: string, pid: number): string {
  return join(folder, `gateway-${pid}.json`);
}
