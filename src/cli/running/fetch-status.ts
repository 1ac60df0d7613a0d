// The status of a gateway that is named by its URL.
import { networkWords } from '../../gateway/upstream/network-words.ts';
import { didYouMean } from '../../config/suggest.ts';
import type { GatewayStatus, ServerStatus } from '../status-page.ts';

/** Rejects with words for people. */
export async function fetchStatus(
  url: string,
  { headers = {}, ms = 10_000 }: { headers?: Record<string, string>; ms?: number | undefined } = {},
): Promise<GatewayStatus> {
  const page = new URL('/status', url);
  page.protocol = page.protocol.replace('ws', 'http');
  const signal = AbortSignal.timeout(ms);
  const response = await fetch(page, { signal, headers, redirect: 'manual' }).catch((cause: Error) => {
    throw new Error(`Nothing answers at ${page.origin}: ${reasonOf(cause)}. Is the gateway running?`, { cause });
  });
  const text = await response.text();
  if (response.status === 403) throw new Error(`${page.origin} tells its status on its own machine only.`);
  const status = response.status === 200 ? (parse(text) as GatewayStatus | undefined) : undefined;
  if (!Array.isArray(status?.servers)) {
    throw new Error(`What answers at ${page.origin} is not a gateway of Parley: it has no status page.`);
  }
  return { ...status, groups: status.groups ?? {} };
}

/** The server or group that a URL names; undefined where it names all there is. */
export function partOf(url: string): string | undefined {
  return /^\/mcp\/([^/]+)$/.exec(new URL(url).pathname)?.[1];
}

/** Those that answer at /mcp/<part>. Throws where nothing is called so. */
export function serversOf({ servers, groups }: GatewayStatus, part: string | undefined): ServerStatus[] {
  if (part === undefined) return servers;
  const names = groups[part] ?? [part];
  const found = servers.filter(({ name }) => names.includes(name));
  if (found.length > 0) return found;
  const known = [...servers.map(({ name }) => name), ...Object.keys(groups)];
  throw new Error(`No server or group is called "${part}". ${didYouMean(part, known)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(thrown: Error): string {
  return thrown.name === 'TimeoutError' ? 'no answer in time' : networkWords(thrown.cause ?? thrown);
}
