// Somebody to talk to for `ls` and `call`: the URL that was given, else the gateway that runs here, else the servers of the
// configuration, started in this process for this one command.
import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ConnectOptions } from '../client/types.ts';
import { buildGateway } from '../config/build.ts';
import { createGateway } from '../gateway/gateway.ts';
import { within } from '../gateway/upstream/within.ts';
import { surroundings } from './around.ts';
import { createCliLog } from './cli-log.ts';
import type { Reach } from './command.ts';
import { configured } from './configured.ts';
import { fetchStatus, findGateway } from './find-gateway.ts';
import type { Printer } from './print.ts';
import { stateFolder } from './state-file.ts';
import { readStatus } from './status-page.ts';
import type { ServerStatus } from './status-page.ts';
import { version } from './version.ts';

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

/** Undefined when there is nobody; the reasons have been told. Rejects when somebody is there and cannot be reached. */
export async function reach(wanted: Reach, answering: Answering, print: Printer): Promise<Reached | undefined> {
  const { url, headers, config } = wanted;
  const log = createCliLog(wanted.log ?? 'error');
  const options: ConnectOptions = { name: 'parley', version: version(), log, ...answering };
  if (url !== undefined) return overUrl(await connect({ url, headers }, options), url);
  if (config !== undefined) return reachConfig(wanted, options, print);
  const found = await findGateway(stateFolder(surroundings()));
  if (found) return overUrl(await connect(found.url, options), found.url);
  return reachConfig(wanted, options, print);
}

/** What answers may be a server and no gateway: then nobody tells of servers. */
function overUrl(client: Client, url: string): Reached {
  const servers = async () => (await fetchStatus(url).catch(() => undefined))?.servers;
  return { client, servers, close: () => client.close() };
}

async function reachConfig({ config }: Reach, options: ConnectOptions, print: Printer): Promise<Reached | undefined> {
  const found = configured(config, print);
  if (!found) return undefined;
  const log = options.log!;
  const built = await buildGateway(found.config, { log, stepLog: log });
  const gateway = createGateway({ ...built.options, version: version(), startMs: START_MS });
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
