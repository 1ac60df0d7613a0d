// Finds the running gateway of this user by its state file, and asks it for its status. Says which gateway is used and why if several run,
// if one does not answer, or if it serves another configuration.
import { realPath } from '../../kernel/files/paths.ts';
import { displayPath } from '../environment.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { isListeningAt } from './bound-address.ts';
import { askStatus } from './control-socket.ts';
import { listRunningGateways } from './state-file.ts';
import type { RunningGateway } from './state-file.ts';
import type { GatewayStatus } from '../../gateway/servers/gateway-status.ts';

export interface FoundGateway extends RunningGateway {
  status: GatewayStatus;
}

export interface GatewaySearch {
  found: FoundGateway | undefined;
  /** No gateway was found, and the reason has been printed. */
  isTold: boolean;
}

interface GatewayQuery {
  /** Only the gateway with this process id. */
  pid?: number | undefined;
  /** Prefer the gateway that serves this configuration. */
  config?: string | undefined;
  /** How long the gateway may take to answer. */
  ms?: number | undefined;
  /** False for a command without --url. */
  hasUrl?: boolean | undefined;
}

const ANSWER_MS = 5000;

export async function findGateway(folder: string, print: Printer, wish: GatewayQuery = {}): Promise<GatewaySearch> {
  const running = listRunningGateways(folder);
  if (wish.pid !== undefined) return byProcess(running, wish.pid, { print, ms: wish.ms, hasUrl: wish.hasUrl });
  const asked = await Promise.all(sortByPreference(running, wish.config).map((one) => ask(one, wish.ms)));
  const answering = asked.flatMap(({ found }) => found ?? []);
  const silent = asked.filter(({ isSilent }) => isSilent).map(({ one }) => one);
  for (const one of silent) print.problem(noAnswer(one));
  // Use no other gateway in place of the wanted one.
  const isWantedSilent = silent.some(({ serves }) => isSame(serves, wish.config));
  const [found, ...others] = isWantedSilent ? [] : answering;
  if (found) tellWhich(found, { ...wish, others, isAlone: running.length === 1 }, print);
  return { found, isTold: !found && silent.length > 0 };
}

/** Gateways of the configuration here come first, then the newest. */
export function sortByPreference(running: RunningGateway[], config: string | undefined): RunningGateway[] {
  const rank = ({ serves }: RunningGateway): number => (isSame(serves, config) ? 0 : 1);
  return running.toSorted((one, other) => rank(one) - rank(other));
}

/** Finds a gateway of this user by its URL. Another program may listen at the same port of another address, also of another loopback address. */
export async function findGatewayAt(folder: string, url: string, ms?: number): Promise<FoundGateway | undefined> {
  const wanted = new URL(url);
  for (const one of listRunningGateways(folder)) {
    if (one.url === undefined || portOf(wanted) !== portOf(new URL(one.url))) continue;
    if (await isListeningAt(one, wanted)) return (await ask(one, ms)).found;
  }
  return undefined;
}

async function byProcess(
  running: RunningGateway[],
  pid: number,
  { print, ms, hasUrl }: Pick<GatewayQuery, 'ms' | 'hasUrl'> & { print: Printer },
): Promise<GatewaySearch> {
  const one = running.find((gateway) => gateway.pid === pid);
  const { found } = one ? await ask(one, ms) : {};
  if (one && !found) print.problem(noAnswer(one));
  if (!one) print.problem(`none of your gateways is process ${pid}.`);
  if (!one) for (const other of running) print.note(`One runs ${describeGateway(other)}${choiceOf(other, hasUrl)}.`);
  return { found, isTold: !found };
}

interface GatewayReply {
  one: RunningGateway;
  found: FoundGateway | undefined;
  /** It runs and does not answer. False if another process has its process id by now. */
  isSilent: boolean;
}

async function ask(one: RunningGateway, ms = ANSWER_MS): Promise<GatewayReply> {
  const status = await askStatus(one.socket, ms).catch(() => undefined);
  return { one, found: status?.pid === one.pid ? { ...one, status } : undefined, isSilent: !status };
}

interface GatewayChoice extends Pick<GatewayQuery, 'config' | 'hasUrl'> {
  others: RunningGateway[];
  isAlone: boolean;
}

function tellWhich(found: FoundGateway, { others, isAlone, config, hasUrl }: GatewayChoice, print: Printer): void {
  const isOther = config !== undefined && !isSame(found.serves, config);
  if (isAlone && !isOther) return;
  const not = isOther
    ? `, which does not serve ${displayPath(config)}; to see the servers of that: --config ${displayPath(config)}`
    : '';
  print.note(`Using the gateway ${describeGateway(found)}${not}.`);
  for (const other of others) print.note(`Another one runs ${describeGateway(other)}${choiceOf(other, hasUrl)}.`);
}

function describeGateway({ pid, url, serves }: RunningGateway): string {
  return `${url === undefined ? 'on stdio' : `at ${url}`} (process ${pid}, ${serves})`;
}

function choiceOf({ url, pid }: RunningGateway, hasUrl = true): string {
  return `; to choose it: ${url === undefined || !hasUrl ? `--pid ${pid}` : `--url ${url}`}`;
}

function noAnswer(one: RunningGateway): string {
  return `the gateway ${describeGateway(one)} does not answer. It may hang: end it with "kill ${one.pid}".`;
}

function portOf({ port, protocol }: URL): string {
  return port || (/^(https|wss):/.test(protocol) ? '443' : '80');
}

function isSame(path: string, other: string | undefined): boolean {
  return other !== undefined && (path === other || realPath(path) === realPath(other));
}
