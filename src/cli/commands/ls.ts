// `parley ls`: what is offered, by the gateway that runs here, by a URL, or by the servers of a configuration.
import type { Client } from '../../client/client.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Listing, LsCommand } from '../command.ts';
import { LISTINGS } from '../command-specs.ts';
import { errorWords } from '../error-words.ts';
import type { Printer } from '../print.ts';
import { reach } from '../reach.ts';
import type { Reached } from '../reach.ts';
import { untilSignal } from '../signals.ts';
import { failing, toStatusRows } from '../status-lines.ts';
import type { ServerStatus } from '../status-page.ts';
import { firstSentence, toTable } from '../table.ts';

/** Set by the router on what a server offered before it went away. */
const UNAVAILABLE = 'mcp-parley/unavailable';

export async function ls(command: LsCommand, print: Printer): Promise<number> {
  return Promise.race([list(command, print), untilSignal().then(() => 1)]);
}

async function list(command: LsCommand, print: Printer): Promise<number> {
  let reached: Reached | undefined;
  try {
    reached = await reach(command, {}, print);
    if (!reached) return 1;
    const kinds = command.what === undefined ? LISTINGS : [command.what];
    const found: [Listing, JsonObject[]][] = [];
    for (const kind of kinds) found.push([kind, await READ[kind](reached)]);
    show(found, command, print);
    const servers = (await reached.servers()) ?? [];
    for (const { name, failure } of servers.filter(failing)) print.problem(`${name} is failing: ${failure}`);
    return 0;
  } catch (thrown) {
    print.problem(errorWords(thrown));
    return 1;
  } finally {
    await reached?.close();
  }
}

const READ: Record<Listing, (reached: Reached) => Promise<JsonObject[]>> = {
  tools: ({ client }) => client.listTools() as Promise<object[]> as Promise<JsonObject[]>,
  prompts: ({ client }) => client.listPrompts() as Promise<object[]> as Promise<JsonObject[]>,
  resources: async ({ client }) => [...(await client.listResources()), ...(await client.listResourceTemplates())],
  servers: async (reached) => ((await reached.servers()) ?? [itself(reached.client)]) as object[] as JsonObject[],
};

/** A server that is asked by its URL, with no gateway before it. */
function itself({ server, transport }: Client): ServerStatus {
  const { info, dialect, revision } = server;
  const { name, version } = info;
  return {
    name,
    state: 'ready',
    info: { name, version },
    era: dialect,
    revision,
    transport,
    tools: null,
    failure: null,
  };
}

function show(found: [Listing, JsonObject[]][], { json, what }: LsCommand, print: Printer): void {
  if (json) {
    const [first] = found;
    return print.line(JSON.stringify(what === undefined ? Object.fromEntries(found) : first![1], undefined, 2));
  }
  // One kind is a plain list, for other programs to read.
  const isOne = what !== undefined;
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  found.forEach(([kind, entries], index) => {
    if (!isOne) print.line(`${index === 0 ? '' : '\n'}${print.style('bold', kind)} (${entries.length})`);
    const rows = kind === 'servers' ? toStatusRows(entries as object[] as ServerStatus[]) : entries.map(toRow);
    for (const line of toTable(rows, { indent: isOne ? '' : '  ', width })) print.line(line);
  });
}

function toRow(entry: JsonObject): string[] {
  const { name, uri, uriTemplate, title, description } = entry;
  const away = isObject(entry._meta) && UNAVAILABLE in entry._meta ? '(its server is away) ' : '';
  const words = firstSentence(String(description ?? title ?? (uri === undefined ? '' : name)));
  return [String(uri ?? uriTemplate ?? name), `${away}${words}`];
}
