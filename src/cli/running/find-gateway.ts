// The gateway that runs for this user: found by its state file, and asked whether it is the one that wrote it. Where there are several,
// or one does not answer, the person is told which one is used and why.
import { program } from '../first/program.ts';
import type { Printer } from '../print.ts';
import type { GatewayStatus } from '../status-page.ts';
import { askStatus } from './control-socket.ts';
import { runningGateways } from './state-file.ts';
import type { RunningGateway } from './state-file.ts';

export interface FoundGateway extends RunningGateway {
  status: GatewayStatus;
}

export interface Looked {
  /** The newest one that answers. */
  found: FoundGateway | undefined;
  /** Those that run and do not answer. */
  silent: RunningGateway[];
}

const ANSWER_MS = 5000;

export async function findGateway(folder: string, print: Printer, ms = ANSWER_MS): Promise<Looked> {
  const running = runningGateways(folder);
  const asked = await Promise.all(
    running.map(async (one) => ({ one, status: await askStatus(one.socket, ms).catch(() => undefined) })),
  );
  const answering = asked.flatMap(({ one, status }) => (status?.pid === one.pid ? [{ ...one, status }] : []));
  const silent = asked.filter(({ status }) => !status).map(({ one }) => one);
  for (const one of silent)
    print.problem(`the gateway ${nameOf(one)} does not answer. It may hang: end it with "kill ${one.pid}".`);
  const [found, ...others] = answering;
  if (found && others.length + silent.length > 0) {
    print.note(`Using the gateway ${nameOf(found)}.`);
    for (const other of others) print.note(`Another one runs: ${nameOf(other)}${choiceOf(other)}.`);
  }
  return { found, silent };
}

export function nameOf({ pid, url, serves }: RunningGateway): string {
  return `${url === undefined ? 'on stdio' : `at ${url}`} (process ${pid}, ${serves})`;
}

function choiceOf({ url }: RunningGateway): string {
  return url === undefined ? '' : `; to choose it: --url ${url}`;
}

/** The error for a command that needs a gateway and found no running one. */
export function noGateway({ silent }: Looked): string {
  if (silent.length > 0) return 'no other gateway is running here.';
  return `no gateway is running here. Start one with "${program()} serve", or name one with --url.`;
}

/** The status of a gateway that is named by its URL. Rejects with words for people. */
export async function fetchStatus(
  url: string,
  { headers = {}, ms = 10_000 }: { headers?: Record<string, string>; ms?: number } = {},
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
  return status;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(thrown: Error): string {
  if (thrown.name === 'TimeoutError') return 'no answer in time';
  const { code } = (thrown.cause ?? thrown) as { code?: string };
  return code ?? thrown.message;
}
