// Fetches the status of a gateway by its URL.
import { describeNetworkError } from '../../mcp/connect/links/describe-network-error.ts';
import { didYouMean } from '../../kernel/text/suggest.ts';
import { programName } from '../program.ts';
import type { GatewayStatus, ServerStatus } from '../../gateway/servers/gateway-status.ts';

/** Rejects with a message for the user. */
export async function fetchStatus(
  url: string,
  { headers = {}, ms = 10_000 }: { headers?: Record<string, string>; ms?: number | undefined } = {},
): Promise<GatewayStatus> {
  const { origin } = new URL(url.replace(/^ws/i, 'http'));
  const signal = AbortSignal.timeout(ms);
  // A connection per request: a gateway that was busy for seconds may close an idle one just as it is used again.
  const once = { ...headers, connection: 'close' };
  const get = (path: string) => fetch(new URL(path, origin), { signal, headers: once, redirect: 'manual' });
  const response = await get('/status').catch((cause: Error) => {
    throw new Error(`Nothing answers at ${origin}: ${reasonOf(cause)}. Is the gateway running?`, { cause });
  });
  const text = await response.text();
  if (response.status === 403) throw new Error(`${origin} shows its status on its own machine only.`);
  if (response.status === 401) {
    throw new Error(
      `${origin} asks for a token or a login: give it with --header "Authorization: Bearer …". Who runs it finds the token with: ${programName()} status --lines`,
    );
  }
  const status = response.status === 200 ? (parse(text) as GatewayStatus | undefined) : undefined;
  if (Array.isArray(status?.servers)) return { ...status, groups: status.groups ?? {} };
  const embedded = await get('/readyz').then(readReady, () => undefined);
  if (embedded) return embedded;
  throw new Error(
    `${origin} is not a Parley gateway (no status page). To see what it offers: ${programName()} ls ${url}`,
  );
}

const STATES: readonly string[] = ['idle', 'starting', 'ready', 'failing'] satisfies ServerStatus['state'][];

/** A gateway embedded in another program has no status page, but /readyz shows the state of its servers. */
async function readReady(response: Response): Promise<GatewayStatus | undefined> {
  const { servers } = (parse(await response.text()) ?? {}) as { servers?: Record<string, ServerStatus['state']> };
  if (![200, 503].includes(response.status) || typeof servers !== 'object') return undefined;
  const unknown = { info: null, era: null, revision: null, transport: null, failure: null };
  const tools = { tools: null, tokens: null, ownTools: null, toolNames: [] };
  const told = Object.entries(servers).filter(([, state]) => STATES.includes(state));
  return {
    version: null,
    pid: null,
    started: null,
    groups: {},
    servers: told.map(([name, state]) => ({ ...unknown, ...tools, name, state })),
  };
}

/** The server or group that a URL names; undefined if it names none. */
export function toPart(url: string): string | undefined {
  return /^\/mcp\/([^/]+)$/.exec(new URL(url).pathname)?.[1];
}

/** The servers behind /mcp/<part>. Throws if the name is unknown. */
export function selectServers({ servers, groups, pid }: GatewayStatus, part: string | undefined): ServerStatus[] {
  if (part === undefined) return servers;
  const names = groups[part] ?? [part];
  const found = servers.filter(({ name }) => names.includes(name));
  if (found.length > 0) return found;
  if (pid === null) return servers; // it may be a group, which /readyz does not list
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
  return thrown.name === 'TimeoutError' ? 'no answer in time' : describeNetworkError(thrown.cause ?? thrown);
}
