// `parley status`: how the servers of the running gateway are. Exit status 1 when one is failing, or when there is no gateway.
import { findConfig } from '../../config/read/find.ts';
import { surroundings } from '../around.ts';
import type { StatusCommand } from '../command.ts';
import { errorWords } from '../terminal/error-words.ts';
import { missingLines, shown } from '../serve/configured.ts';
import { program } from '../first/program.ts';
import type { Printer } from '../terminal/print.ts';
import { ownGateway, reach, runningGateway } from '../reach.ts';
import { fetchStatus, partOf, serversOf } from '../running/fetch-status.ts';
import { serverName } from '../serve/server-name.ts';
import { untilSignal } from '../signals.ts';
import { failing, headOf, toServerLines } from '../serve/status-lines.ts';
import { itself } from '../serve/status-of-client.ts';
import type { GatewayStatus, ServerStatus } from '../serve/status-page.ts';

interface Told {
  head: string;
  json: object;
  servers: ServerStatus[];
}

export async function status(command: StatusCommand, print: Printer): Promise<number> {
  return Promise.race([tell(command, print), untilSignal().then(() => 1)]);
}

async function tell(command: StatusCommand, print: Printer): Promise<number> {
  const told = await look(command, print).catch((thrown: unknown) => {
    print.problem(errorWords(thrown));
    return undefined;
  });
  if (!told) return 1;
  if (command.json) print.line(JSON.stringify({ ...told.json, servers: told.servers.map(withoutNames) }, undefined, 2));
  else for (const line of [told.head, '', ...toServerLines(told.servers, print)]) print.line(line);
  return told.servers.some(failing) ? 1 : 0;
}

async function look(command: StatusCommand, print: Printer): Promise<Told | undefined> {
  const { url, headers, timeoutMs, config, server } = command;
  if (url !== undefined) {
    const status = (await ownGateway(command))?.status ?? (await fetchStatus(url, { headers, ms: timeoutMs }));
    return ofGateway({ ...status, servers: serversOf(status, partOf(url)) }, url);
  }
  if (config !== undefined || server !== undefined) return started(command, print);
  const { found, isTold } = await runningGateway(command, print);
  if (found) return ofGateway(found.status, found.url, found.serves);
  if (!isTold) tellNone(print);
  return undefined;
}

function ofGateway({ servers, groups: _, ...rest }: GatewayStatus, url?: string, serves?: string): Told {
  const json = { url: url ?? null, ...(serves !== undefined && { serves }), ...rest };
  return { head: headOf(rest, url), json, servers };
}

/** Looks only, and starts nothing: if no gateway runs, the command says so. */
function tellNone(print: Printer): void {
  const { path } = findConfig(undefined, surroundings());
  print.problem('no gateway is running here, and "status" starts nothing by itself.');
  if (path === undefined) return missingLines().forEach((line) => print.note(line));
  print.note(`To start one with ${shown(path)}: ${program()} serve`);
  print.note(`To try its servers once, without a gateway: ${program()} status ${shown(path)}`);
}

/** The servers of a file, or one command, started to see how they are. */
async function started(command: StatusCommand, print: Printer): Promise<Told | undefined> {
  const reached = await reach(command, {}, print);
  if (!reached) return undefined;
  try {
    const tools = await reached.client.listTools().catch(() => undefined); // a server that is slow to start is waited for here
    const servers = (await reached.servers()) ?? [itself(reached.client, tools?.length)];
    const what = command.server ? serverName(command.server) : `the servers of ${shown(command.config)}`;
    return { head: `Started for this: ${what}`, json: {}, servers };
  } finally {
    await reached.close();
  }
}

/** There may be hundreds; `ls` has them. */
function withoutNames({ toolNames: _, ...server }: ServerStatus): object {
  return server;
}
