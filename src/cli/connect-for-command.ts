// Somebody to talk to for `ls`, `call`, `read`, `prompt` and `status`: the URL or command that was given, else the gateway that runs here,
// else the servers of the configuration, started in this process for this one command.
import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ConnectOptions } from '../client/types.ts';
import { buildGateway } from '../config/apply/build-gateway.ts';
import { findConfig } from '../config/read/find-config.ts';
import { createGateway } from '../gateway/gateway.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { CommandAddress } from '../gateway/upstream/address.ts';
import { GatewayError } from '../shared/errors.ts';
import { explainStartFailure } from './wrap/start-failure.ts';
import { UpstreamTarget } from '../gateway/upstream/upstream-target.ts';
import { settledWithin } from '../gateway/upstream/settled-within.ts';
import { readEnvironment } from './environment.ts';
import { createCliLog } from './cli-log.ts';
import type { TargetOptions } from './command.ts';
import { loadCommandConfig, displayPath } from './serve/load-command-config.ts';
import type { CommandConfig } from './serve/load-command-config.ts';
import type { Printer } from './terminal/print.ts';
import { ControlTransport, askStatus } from './running/control-socket.ts';
import { fetchStatus, toPart, selectServers } from './running/fetch-status.ts';
import { findGateway, findGatewayAt } from './running/find-gateway.ts';
import type { FoundGateway, GatewaySearch } from './running/find-gateway.ts';
import { stateFolder } from './running/state-file.ts';
import { readStatus } from './serve/status-page.ts';
import type { ServerStatus } from './serve/status-page.ts';
import { version } from '../shared/version.ts';
import { toWrappedAddress } from './wrap/wrapped-address.ts';

export interface CommandConnection {
  client: Client;
  /** How each server behind it is; undefined where nobody tells. */
  servers(): Promise<ServerStatus[] | undefined>;
  close(): Promise<void>;
}

export type AskHandlers = Pick<ConnectOptions, 'onElicit' | 'elicitUrls'>;

/** A server that has to be installed first takes its time. */
const START_MS = 30_000;
const CLOSE_MS = 6000;
const STATUS_MS = 10_000;

/** Undefined when there is nobody; the reasons have been told. Rejects when somebody is there and cannot be reached. */
export async function connectForCommand(
  wanted: TargetOptions,
  answering: AskHandlers,
  print: Printer,
): Promise<CommandConnection | undefined> {
  const { url, headers, config, server, timeoutMs } = wanted;
  const log = createCliLog(wanted.log ?? 'error');
  const options: ConnectOptions = {
    ...{ name: 'parley', version: version(), log, ...answering },
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  if (url !== undefined) {
    const own = await findOwnGateway(wanted);
    if (own) return overSocket(own, options, toPart(url));
    return overUrl(await connect({ url, headers }, options), wanted);
  }
  if (server !== undefined) return overCommand(await connectToCommand(server, options));
  if (config === undefined) {
    const { found, isTold } = await findRunningGateway(wanted, print);
    if (found) return overSocket(found, options);
    if (isTold) return undefined; // never show another one in its place
  }
  const loaded = await loadCommandConfig(config, print, {
    missing: 'no gateway is running here, and no configuration was found.',
  });
  if (!loaded) return undefined;
  if (config === undefined)
    print.note(`No gateway is running: the servers of ${displayPath(loaded.path)} are started for this.`);
  return connectToConfig(loaded, options);
}

/** The one that was named by its process, or the one of the configuration here, or the newest. */
export function findRunningGateway({ pid, timeoutMs }: TargetOptions, print: Printer): Promise<GatewaySearch> {
  const around = readEnvironment();
  return findGateway(stateFolder(around), print, { pid, ms: timeoutMs, config: findConfig(undefined, around).path });
}

/** A certificate is rarely for this machine's own address, and the socket of a gateway of ours needs none. Headers need HTTP. */
export async function findOwnGateway({
  url = '',
  headers,
  timeoutMs,
}: TargetOptions): Promise<FoundGateway | undefined> {
  if (!/^(https|wss):/i.test(url) || Object.keys(headers).length > 0) return undefined;
  return findGatewayAt(stateFolder(readEnvironment()), url, timeoutMs);
}

/** What answers may be a server and not a gateway: then nobody tells about servers. */
function overUrl(client: Client, { url = '', headers, timeoutMs: ms = STATUS_MS }: TargetOptions): CommandConnection {
  const servers = async () => {
    const status = await fetchStatus(url, { headers, ms }).catch(() => undefined);
    return status && selectServers(status, toPart(url));
  };
  return { client, servers, close: () => client.close() };
}

/**
 * Most commands are of the handshake era. Asked for the newer one first, one that fails would be started twice, since some end at a
 * question that they do not know. Failures are told in the words of `wrap`, which say what to do.
 */
function connectToCommand(server: CommandAddress, options: ConnectOptions): Promise<Client> {
  return connect(toWrappedAddress(server), { ...options, prefer: 'handshake' }).catch((thrown: unknown) => {
    if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('UPSTREAM_')) throw thrown;
    const { message: reason } = thrown;
    const why = explainStartFailure({ server, reason, waitedMs: 0, stderr: '', isGarbled: false, isOnce: true });
    throw new Error(why, { cause: thrown });
  });
}

function overCommand(client: Client): CommandConnection {
  return { client, servers: async () => undefined, close: () => client.close() };
}

/** By its socket, where it does not matter whether it has a port, and whose name its certificate has. */
async function overSocket(
  { socket, status }: FoundGateway,
  options: ConnectOptions,
  part?: string,
): Promise<CommandConnection> {
  selectServers(status, part); // says what there is, where nothing is called so
  const client = await connect(new ControlTransport(socket, part), options);
  const servers = async () => {
    const now = await askStatus(socket, STATUS_MS).catch(() => undefined);
    return now && selectServers(now, part);
  };
  return { client, servers, close: () => client.close() };
}

async function connectToConfig({ config, path }: CommandConfig, options: ConnectOptions): Promise<CommandConnection> {
  const log = options.log!;
  const built = await buildGateway(config, { log, stepLog: log });
  const startMs = options.timeoutMs ?? config.startMs ?? START_MS;
  const gateway = createGateway({ ...built.options, version: version(), startMs });
  const close = async (): Promise<void> => {
    built.steps.close();
    await settledWithin(gateway.close(), CLOSE_MS); // what is left then ends with this process
  };
  try {
    const { InMemoryTransport } = await import('@modelcontextprotocol/client');
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await gateway.connect(theirs);
    const displayName = `the servers of ${displayPath(path)}`;
    const client = await connect(Object.assign(ours, { displayName }), { ...options, probeMs: startMs + 5000 });
    checkStarted(gateway, startMs);
    return { client, servers: async () => (await readStatus(gateway, '')).servers, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Several servers have their lists without one that is slow. One alone has nothing to show before it is there. */
function checkStarted({ servers }: Gateway, startMs: number): void {
  const [only, ...others] = servers;
  if (others.length > 0 || !(only?.target instanceof UpstreamTarget) || only.target.status.state !== 'starting') return;
  throw new Error(stillStarting(only.name, startMs));
}

/** For servers of a file that were started for one command. */
export function stillStarting(server: string, afterMs?: number): string {
  const after = afterMs === undefined ? '' : ` after ${afterMs / 1000} s`;
  return `${server} is still starting${after}. Give it longer with --timeout S, or with "startMs" in the file.`;
}
