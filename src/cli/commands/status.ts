// `parley status`: shows the state of the servers of the running gateway. Exit status 1 if a server fails or no gateway runs.
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findConfig } from '../../config/read/find-config.ts';
import { stateFolder } from '../../kernel/secrets/own-folders.ts';
import type { StatusCommand } from '../args/target-commands.ts';
import { readEnvironment, displayPath } from '../environment.ts';
import { programName } from '../program.ts';
import { findOwnGateway, connectForCommand, findRunningGateway } from '../running/connect-for-command.ts';
import { askLines } from '../running/control-socket.ts';
import { fetchStatus, toPart, selectServers } from '../running/fetch-status.ts';
import { findGatewayAt } from '../running/find-gateway.ts';
import { withOwnToken } from '../running/token-for-url.ts';
import { deriveServerName } from '../running/named-server.ts';
import { isFailing, toStatusHeading, toServerLines, toNodeLines } from '../running/status-lines.ts';
import { toClientStatus } from '../running/client-status.ts';
import type { GatewayStatus, ServerStatus } from '../../gateway/servers/gateway-status.ts';
import { untilSignal } from '../signals.ts';
import { formatError } from '../terminal/format-error.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { toMissingLines } from '../trust/load-command-config.ts';

const LINES_MS = 5000;

interface StatusReport {
  head: string;
  json: object;
  servers: ServerStatus[];
  nodes?: GatewayStatus['nodes'];
  /** The file, or the wrapped command, of a running gateway. */
  serves?: string | undefined;
}

export async function runStatus(command: StatusCommand, print: Printer): Promise<number> {
  const telling = command.lines ? tellLines(command, print) : tell(command, print);
  return Promise.race([telling, untilSignal().then(() => 1)]);
}

/** The lines to paste into clients, as the gateway printed them when it started. */
async function tellLines(command: StatusCommand, print: Printer): Promise<number> {
  const { url, timeoutMs } = command;
  const { found, isTold } =
    url === undefined
      ? await findRunningGateway(command, print)
      : { found: await findGatewayAt(stateFolder(readEnvironment()), url, timeoutMs), isTold: false };
  if (!found) {
    if (url !== undefined) print.problem(`none of your gateways runs at ${url}.`);
    else if (!isTold) tellNone(print);
    return 1;
  }
  const lines = await askLines(found.socket, timeoutMs ?? LINES_MS).catch(() => []);
  if (lines.length === 0)
    print.problem('this gateway has no port, so there is nothing to paste: its client started it.');
  for (const line of lines) print.line(line);
  return lines.length === 0 ? 1 : 0;
}

async function tell(command: StatusCommand, print: Printer): Promise<number> {
  const told = await look(command, print).catch((thrown: unknown) => {
    print.problem(formatError(thrown));
    return undefined;
  });
  if (!told) return 1;
  if (command.json) print.line(JSON.stringify({ ...told.json, servers: told.servers.map(withoutNames) }, undefined, 2));
  else for (const line of toLines(told, print)) print.line(line);
  if (told.serves !== undefined && !command.json) await tellNotInForce(told.serves, print);
  return told.servers.some(isFailing) ? 1 : 0;
}

function toLines({ head, servers, nodes = [] }: StatusReport, print: Printer): string[] {
  const others = toNodeLines(nodes, print);
  return [head, '', ...toServerLines(servers, print), ...(others.length > 0 ? ['', ...others] : [])];
}

async function fetchStatusAt(url: string, { headers, timeoutMs: ms }: StatusCommand): Promise<GatewayStatus> {
  return fetchStatus(url, { headers: await withOwnToken(url, { headers, ms }), ms });
}

async function look(command: StatusCommand, print: Printer): Promise<StatusReport | undefined> {
  const { url, config, server } = command;
  if (url !== undefined) {
    const status = (await findOwnGateway(command))?.status ?? (await fetchStatusAt(url, command));
    return toGatewayReport({ ...status, servers: selectServers(status, toPart(url)) }, url);
  }
  if (config !== undefined || server !== undefined) return reportStarted(command, print);
  const { found, isTold } = await findRunningGateway(command, print);
  if (found) return toGatewayReport(found.status, found.url, found.serves);
  if (!isTold) tellNone(print);
  return undefined;
}

function toGatewayReport({ servers, groups: _, ...rest }: GatewayStatus, url?: string, serves?: string): StatusReport {
  const json = { url: url ?? null, ...(serves !== undefined && { serves }), ...rest };
  return { head: toStatusHeading(rest, url), json, servers, serves, nodes: rest.nodes };
}

/** A running gateway keeps its configuration while the newest version of the file has errors or is not trusted. */
async function tellNotInForce(serves: string, print: Printer): Promise<void> {
  if (!isAbsolute(serves) || !/\.(jsonc?|ya?ml|toml)$/.test(serves) || !existsSync(serves)) return;
  const { loadConfig } = await import('../../config/read/load-config.ts');
  const loaded = loadConfig(serves, readEnvironment());
  const kept = 'The gateway keeps running with what it was before.';
  // Variables that are not set here may be set for the gateway.
  if (!loaded.config && (loaded.read?.missing.size ?? 0) > 0) return;
  if (!loaded.config) {
    print.note(
      `${displayPath(serves)} has errors now. ${kept} To see them: ${programName()} check ${displayPath(serves)}`,
    );
    return;
  }
  const { judgeTrust } = await import('../trust/judge-trust.ts');
  const { howTo, whyNot } = await import('../trust/judge-trust.ts');
  if (judgeTrust(loaded, readEnvironment()) === 'changed')
    print.note(`${whyNot(serves, 'changed')} ${kept} ${howTo(serves)}`);
}

/** Starts nothing; only says that no gateway runs and what to do. */
function tellNone(print: Printer): void {
  const { path } = findConfig(undefined, readEnvironment());
  print.problem('no gateway is running here, and "status" starts nothing by itself.');
  if (path === undefined) return toMissingLines().forEach((line) => print.note(line));
  print.note(`To start one with ${displayPath(path)}: ${programName()} serve`);
  print.note(`To try its servers once, without a gateway: ${programName()} status ${displayPath(path)}`);
}

/** Starts the servers of a file, or one command, to see their state. */
async function reportStarted(command: StatusCommand, print: Printer): Promise<StatusReport | undefined> {
  const connection = await connectForCommand(command, {}, print);
  if (!connection) return undefined;
  try {
    const tools = await connection.client.listTools().catch(() => undefined); // waits for a server that is slow to start
    const servers = (await connection.servers()) ?? [toClientStatus(connection.client, tools?.length)];
    const what = command.server ? deriveServerName(command.server) : `the servers of ${displayPath(command.config)}`;
    return { head: `Started for this: ${what}`, json: {}, servers };
  } finally {
    await connection.close();
  }
}

/** There may be hundreds of names; `ls` prints them. */
function withoutNames({ toolNames: _, ...server }: ServerStatus): object {
  return server;
}
