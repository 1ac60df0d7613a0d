// Whether a URL leads to a gateway of this user, and to nobody else: the user's token goes there. A program of another user may have the same port at another
// address of this machine, such as 127.0.0.2 or ::1, and `localhost` may mean several addresses.
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { settledWithin } from '../../kernel/base/timing.ts';
import type { RunningGateway } from './state-file.ts';

/** How long an address on this machine may take to say that nobody listens there. */
const PROBE_MS = 1000;

export async function isListeningAt(gateway: RunningGateway, wanted: URL): Promise<boolean> {
  const host = bare(wanted.hostname);
  const { hostname, port } = new URL(gateway.url!);
  if (host === bare(hostname) || isBoundTo(gateway, host)) return true;
  if (!/^localhost\.?$/i.test(host)) return false;
  const found = await lookup(host, { all: true }).catch(() => []);
  const others = found.map(({ address }) => address).filter((address) => !isBoundTo(gateway, address));
  if (others.length === found.length) return false;
  const taken = await Promise.all(others.map((address) => isTaken(address, Number(port))));
  return !taken.includes(true);
}

/** Whether connections to this address reach the gateway. */
function isBoundTo({ url, wildcard }: RunningGateway, address: string): boolean {
  const kind = isIP(address);
  if (kind === 0) return false;
  if (wildcard === '::') return isLoopbackAddress(address);
  if (wildcard === '0.0.0.0') return kind === 4 && isLoopbackAddress(address);
  const bound = bare(new URL(url!).hostname);
  return bound === address || (bound === 'localhost' && address === '127.0.0.1');
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** Whether somebody listens there. Silence counts as somebody. */
async function isTaken(address: string, port: number): Promise<boolean> {
  const socket = connect({ host: address, port });
  const refused = once(socket, 'connect').then(
    () => Promise.reject(new Error('somebody listens there')),
    () => true,
  );
  const isFree = (await settledWithin(refused, PROBE_MS)) && (await refused.catch(() => false));
  socket.destroy();
  return !isFree;
}

function bare(hostname: string): string {
  return hostname.replaceAll(/[[\]]/g, '');
}
