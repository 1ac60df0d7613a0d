// Somebody to talk to for `ls`, `call`, `read`, `prompt` and `status`: the URL or command that was given, else the gateway that runs here,
// else the servers of the configuration, started in this process for this one command.
import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ConnectOptions } from '../client/types.ts';
import { buildGateway } from '../config/build.ts';
import { createGateway } from '../gateway/gateway.ts';
import { within } from '../gateway/upstream/within.ts';
import { surroundings } from './around.ts';
import { createCliLog } from './cli-log.ts';
import type { Reach } from './command.ts';
import { configured, shown } from './configured.ts';
import type { Configured } from './configured.ts';
import type { Printer } from './print.ts';
import { ControlTransport, askStatus } from './running/control-socket.ts';
import { fetchStatus, findGateway } from './running/find-gateway.ts';
import type { FoundGateway } from './running/find-gateway.ts';
import { stateFolder } from './running/state-file.ts';
import { readStatus } from './status-page.ts';
import type { ServerStatus } from './status-page.ts';
import { version } from './version.ts';
import { wrappedAddress } from './wrapped-address.ts';

export interface Reached {
  client: Client;
  /** How each server behind it is; undefined where nobody tells. */
  servers(): Promise<ServerStatus[] | undefined>;
  close(): Promise<void>;
}

export type Answering = Pick<ConnectOptions, 'onElicit' | 'elicitUrls'>;

/** A server that has to be installed first takes its time. */
const START_MS = 30_000;
const CLOSE_MS = 6000;
const STATUS_MS = 10_000;

/** Undefined when there is nobody; the reasons have been told. Rejects when somebody is there and cannot be reached. */
export async function reach(wanted: Reach, answering: Answering, print: Printer): Promise<Reached | undefined> {
  const { url, headers, config, server, timeoutMs } = wanted;
  const log = createCliLog(wanted.log ?? 'error');
  const options: ConnectOptions = {
    ...{ name: 'parley', version: version(), log, ...answering },
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  if (url !== undefined) return overUrl(await connect({ url, headers }, options), wanted);
  if (server !== undefined) return overCommand(await connect(wrappedAddress(server), options));
  if (config === undefined) {
    const { found, silent } = await findGateway(stateFolder(surroundings()), print, timeoutMs);
    if (found) return overSocket(found, options);
    if (silent.length > 0) return undefined; // never show another one in its place
  }
  const loaded = configured(config, print, { missing: 'no gateway is running here, and no configuration was found.' });
  if (!loaded) return undefined;
  if (config === undefined)
    print.note(`No gateway is running: the servers of ${shown(loaded.path)} are started for this.`);
  return reachConfig(loaded, options);
}

/** What answers may be a server and not a gateway: then nobody tells about servers. */
function overUrl(client: Client, { url, headers, timeoutMs: ms = STATUS_MS }: Reach): Reached {
  const servers = async () => (await fetchStatus(url!, { headers, ms }).catch(() => undefined))?.servers;
  return { client, servers, close: () => client.close() };
}

function overCommand(client: Client): Reached {
  return { client, servers: async () => undefined, close: () => client.close() };
}

/** By its socket, where it does not matter whether it has a port, and whose name its certificate has. */
async function overSocket({ socket }: FoundGateway, options: ConnectOptions): Promise<Reached> {
  const client = await connect(new ControlTransport(socket), options);
  const servers = async () => (await askStatus(socket, STATUS_MS).catch(() => undefined))?.servers;
  return { client, servers, close: () => client.close() };
}

async function reachConfig({ config }: Configured, options: ConnectOptions): Promise<Reached> {
  const log = options.log!;
  const built = await buildGateway(config, { log, stepLog: log });
  const gateway = createGateway({ ...built.options, version: version(), startMs: options.timeoutMs ?? START_MS });
  const close = async (): Promise<void> => {
    built.steps.close();
    await within(gateway.close(), CLOSE_MS); // what is left then ends with this process
  };
  try {
    const { InMemoryTransport } = await import('@modelcontextprotocol/client');
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await gateway.connect(theirs);
    const client = await connect(ours, { ...options, probeMs: START_MS + 5000 });
    return { client, servers: async () => (await readStatus(gateway, '')).servers, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
