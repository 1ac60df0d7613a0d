// Connects `ls`, `call`, `read`, `prompt` and `status` to the given URL or command, else to the running gateway, else to the servers of the
// configuration, started in this process for this command only.
import type { Client } from '../../sdk/client/client.ts';
import { connect, connectAs } from '../../sdk/client/connect.ts';
import type { ConnectOptions } from '../../sdk/client/types.ts';
import { buildGateway } from '../../config/apply/build-gateway.ts';
import { findConfig } from '../../config/read/find-config.ts';
import { createGateway } from '../../gateway/gateway.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { CommandAddress } from '../../mcp/connect/address.ts';
import type { LoginTarget } from '../../mcp/connect/accounts/login-to.ts';
import { loginAddress } from '../../mcp/connect/accounts/login-address.ts';
import type { ServerLogin } from '../../mcp/connect/accounts/server-login.ts';
import { isServerTarget } from '../../gateway/servers/target-options.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import { stateFolder } from '../../kernel/secrets/own-folders.ts';
import { settledWithin } from '../../kernel/base/timing.ts';
import { version } from '../../kernel/version.ts';
import type { TargetOptions } from '../args/target-commands.ts';
import { readEnvironment, displayPath } from '../environment.ts';
import { openBrowser } from '../login/open-browser.ts';
import { ownLogin } from '../login/own-logins.ts';
import { untilSignal } from '../signals.ts';
import { createCliLog } from '../terminal/cli-log.ts';
import { explainStartFailure, formatError } from '../terminal/format-error.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { loadCommandConfig } from '../trust/load-command-config.ts';
import type { CommandConfig } from '../trust/load-command-config.ts';
import { ControlTransport, askStatus } from './control-socket.ts';
import { fetchStatus, toPart, selectServers } from './fetch-status.ts';
import { findGateway, findGatewayAt } from './find-gateway.ts';
import type { FoundGateway, GatewaySearch } from './find-gateway.ts';
import { withOwnToken } from './token-for-url.ts';
import { toWrappedAddress } from './named-server.ts';
import { readStatus } from '../../gateway/servers/gateway-status.ts';
import type { ServerStatus } from '../../gateway/servers/gateway-status.ts';

export interface CommandConnection {
  client: Client;
  /** The state of each server behind the connection; undefined if that is unknown. */
  servers(): Promise<ServerStatus[] | undefined>;
  close(): Promise<void>;
}

type AskHandlers = Pick<ConnectOptions, 'onElicit' | 'elicitUrls'>;

/** A server may have to be installed first. */
const START_MS = 30_000;
const CLOSE_MS = 6000;
const STATUS_MS = 10_000;

/** Undefined if there is nothing to connect to; the reason has been printed. Rejects if the connection fails. */
export async function connectForCommand(
  wanted: TargetOptions,
  answering: AskHandlers,
  print: Printer,
): Promise<CommandConnection | undefined> {
  const { url, headers, config, server, timeoutMs } = wanted;
  const log = createCliLog(wanted.log ?? 'error');
  const options: ConnectOptions = {
    name: 'parley',
    version: version(),
    log,
    ...answering,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  if (url !== undefined) {
    const own = await findOwnGateway(wanted);
    if (own) return overSocket(own, options, toPart(url));
    const sent = await withOwnToken(url, { headers, ms: timeoutMs });
    const client = await connectAs({ url, headers: sent }, options, loginForUrl(url, log, print));
    return overUrl(client, { ...wanted, headers: sent });
  }
  if (server !== undefined) return connectToCommand(server, options);
  if (config === undefined) {
    const { found, isTold } = await findRunningGateway(wanted, print);
    if (found) return overSocket(found, options);
    if (isTold) return undefined; // do not connect to another gateway instead
  }
  const loaded = await loadCommandConfig(config, print, {
    missing: 'no gateway is running here, and no configuration was found.',
  });
  if (!loaded) return undefined;
  if (config === undefined)
    print.note(`No gateway is running: the servers of ${displayPath(loaded.path)} are started for this.`);
  return connectToConfig(loaded, options);
}

/** Only somebody at a terminal can be asked to log in. */
function loginForUrl(address: string, log: Log, print: Printer): ServerLogin | undefined {
  const { url, auth: login } = loginAddress(address) ?? {};
  if (url === undefined) return undefined;
  const name = url.origin + url.pathname;
  const show = (link: string): void => {
    print.note(
      `${name} needs a login. ${openBrowser(link) ? 'Your browser shows this page' : 'Open this link'}:\n  ${link}`,
    );
  };
  return ownLogin({ url, name, login }, { log, show: process.stderr.isTTY ? show : undefined });
}

/** The gateway with the given process id, else the one that serves the configuration here, else the newest. */
export function findRunningGateway({ pid, timeoutMs }: TargetOptions, print: Printer): Promise<GatewaySearch> {
  const environment = readEnvironment();
  return findGateway(stateFolder(environment), print, {
    pid,
    ms: timeoutMs,
    config: findConfig(undefined, environment).path,
  });
}

/** Certificates rarely cover the address of this machine, and the socket of a local gateway needs none. Headers need HTTP. */
export async function findOwnGateway({
  url = '',
  headers,
  timeoutMs,
}: TargetOptions): Promise<FoundGateway | undefined> {
  if (!/^(https|wss):/i.test(url) || Object.keys(headers).length > 0) return undefined;
  return findGatewayAt(stateFolder(readEnvironment()), url, timeoutMs);
}

/** The URL may be of a plain server, which has no status of servers. */
function overUrl(client: Client, { url = '', headers, timeoutMs: ms = STATUS_MS }: TargetOptions): CommandConnection {
  const servers = async () => {
    const status = await fetchStatus(url, { headers, ms }).catch(() => undefined);
    return status && selectServers(status, toPart(url));
  };
  return { client, servers, close: () => client.close() };
}

/**
 * Most commands speak the handshake era only, and some exit at an unknown first request, so trying the newer era first would start them
 * twice. Failures are explained as by `wrap`.
 */
async function connectToCommand(server: CommandAddress, options: ConnectOptions): Promise<CommandConnection> {
  try {
    const client = await connect(toWrappedAddress(server), { ...options, prefer: 'handshake' });
    return { client, servers: async () => undefined, close: () => client.close() };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('UPSTREAM_')) throw thrown;
    const { message: reason } = thrown;
    const why = explainStartFailure({ server, reason, waitedMs: 0, stderr: '', isGarbled: false, isOnce: true });
    throw new Error(why, { cause: thrown });
  }
}

/** Uses the control socket, which works without a port and whatever name the certificate has. */
async function overSocket(
  { socket, status }: FoundGateway,
  options: ConnectOptions,
  part?: string,
): Promise<CommandConnection> {
  selectServers(status, part); // throws if nothing has this name
  const client = await connect(new ControlTransport(socket, part), options);
  const servers = async () => {
    const now = await askStatus(socket, STATUS_MS).catch(() => undefined);
    return now && selectServers(now, part);
  };
  return { client, servers, close: () => client.close() };
}

async function connectToConfig(
  { config, path, isStillTrusted, checkStart }: CommandConfig,
  options: ConnectOptions,
): Promise<CommandConnection> {
  const log = options.log!;
  const built = await buildGateway(config, { log, stepLog: log, isStillTrusted, checkStart });
  const startMs = options.timeoutMs ?? config.startMs ?? START_MS;
  const loginFor = (server: LoginTarget) => ownLogin(server, { log });
  const gateway = createGateway({ ...built.options, version: version(), startMs, loginFor });
  const close = async (): Promise<void> => {
    built.steps.close();
    await settledWithin(gateway.close(), CLOSE_MS); // what is left ends with this process
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

/** With several servers, a slow one does not hold up the lists of the others. A single server has nothing to show before it is ready. */
function checkStarted({ servers }: Gateway, startMs: number): void {
  const [only, ...others] = servers;
  if (others.length > 0 || !only || !isServerTarget(only.target) || only.target.status.state !== 'starting') return;
  throw new Error(stillStarting(only.name, startMs));
}

/** The message for a server that was started for one command and is not ready in time. */
export function stillStarting(server: string, afterMs?: number): string {
  const after = afterMs === undefined ? '' : ` after ${afterMs / 1000} s`;
  return `${server} is still starting${after}. Give it longer with --timeout S, or with "startMs" in the file.`;
}

/** Runs the work of a command with a connection, prints errors, and closes the connection at the end. Resolves with the exit status. */
export function withConnection(
  wanted: TargetOptions,
  print: Printer,
  work: (connection: CommandConnection) => Promise<number>,
): Promise<number> {
  const run = async (): Promise<number> => {
    let connection: CommandConnection | undefined;
    try {
      connection = await connectForCommand(wanted, {}, print);
      return connection ? await work(connection) : 1;
    } catch (thrown) {
      print.problem(formatError(thrown));
      return 1;
    } finally {
      await connection?.close();
    }
  };
  return Promise.race([run(), untilSignal().then(() => 1)]);
}
