// Who has a port of this machine: a gateway of this user, or else a process, as far as the system says.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';
import { displayPath } from '../environment.ts';
import { listRunningGateways } from './state-file.ts';

interface PortHolder {
  /** Undefined if the system does not say. */
  who?: string | undefined;
  pid?: number | undefined;
  isGateway: boolean;
}

export async function describeHolder(port: number, folder = ownStateFolder()): Promise<PortHolder> {
  const gateway = listRunningGateways(folder).find(
    ({ url }) => url !== undefined && Number(new URL(url).port) === port,
  );
  if (gateway) {
    const { pid, serves } = gateway;
    return { who: `${nameOf(serves)}, process ${pid}`, pid, isGateway: true };
  }
  const found = process.platform === 'linux' ? findProcess(port) : undefined;
  return { ...(found && { who: `${found.name}, process ${found.pid}`, pid: found.pid }), isGateway: false };
}

const LISTENING = '0A';

/** By the tables of Linux: the socket that listens, and the process that has it open. Those of other users are not shown. */
function findProcess(port: number): { pid: number; name: string } | undefined {
  const wanted = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => socketsAt(table, port)));
  if (wanted.size === 0) return undefined;
  for (const pid of namesIn('/proc').filter((name) => /^\d+$/.test(name))) {
    const isHolder = namesIn(`/proc/${pid}/fd`).some((fd) => wanted.has(linkOf(`/proc/${pid}/fd/${fd}`)));
    if (isHolder) return { pid: Number(pid), name: textOf(`/proc/${pid}/comm`).trim() };
  }
  return undefined;
}

function socketsAt(table: string, port: number): string[] {
  const rows = textOf(table)
    .split('\n')
    .slice(1)
    .map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([, local = '', , state, , , , , , inode]) => {
    const isIt = state === LISTENING && Number.parseInt(local.split(':').at(-1)!, 16) === port;
    return isIt ? [`socket:[${inode}]`] : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // of another user, or gone by now
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed by now
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The demo, `wrap COMMAND`, or the gateway of a file. */
function nameOf(serves: string): string {
  if (serves === 'the demo') return 'parley demo';
  return isAbsolute(serves) ? `your gateway of ${displayPath(serves)}` : `parley ${serves}`;
}
