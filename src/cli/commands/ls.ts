// `parley ls`: lists what the running gateway, a URL, a command or the servers of a configuration offer.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { UNAVAILABLE_KEY } from '../../kernel/target.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import { LS_KINDS } from '../args/target-commands.ts';
import type { LsKind, LsCommand } from '../args/target-commands.ts';
import { withConnection } from '../running/connect-for-command.ts';
import type { CommandConnection } from '../running/connect-for-command.ts';
import { STATUS_HEADINGS, isFailing, toStatusRows } from '../running/status-lines.ts';
import { findOwningServer } from '../running/owning-server.ts';
import { toClientStatus } from '../running/client-status.ts';
import type { ServerStatus } from '../../gateway/servers/gateway-status.ts';
import { toArgumentNames } from '../terminal/tool-help.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { firstSentence, toTable } from '../../kernel/command/table.ts';

const HEADINGS: Record<Exclude<LsKind, 'servers'>, string> = {
  tools: 'TOOL',
  resources: 'RESOURCE',
  prompts: 'PROMPT',
};

type ListedEntries = [LsKind, JsonObject[]];

export function runLs(command: LsCommand, print: Printer): Promise<number> {
  return withConnection(command, print, async (connection) => {
    const kinds = command.what === undefined ? LS_KINDS : [command.what];
    const found: ListedEntries[] = [];
    for (const kind of kinds) if (kind !== 'servers') found.push([kind, await READ[kind](connection)]);
    // Ask last: by now every server that can start has started.
    const servers = await connection.servers();
    if (kinds.includes('servers'))
      found.push(['servers', (servers ?? [toClientStatus(connection.client)]) as object[] as JsonObject[]]);
    show(
      found.map((one) => withOwners(one, servers)),
      command,
      print,
    );
    for (const { name, failure } of servers?.filter(isFailing) ?? [])
      print.problem(`${name} is failing: ${failure ?? 'the log of its gateway says why.'}`);
    for (const { name, state } of servers ?? []) {
      if (state === 'starting') print.problem(`${name} is still starting: what it offers is not listed yet.`);
    }
    return isOfNoUse(servers) ? 1 : 0;
  });
}

/** Nothing could be listed, because every server fails. */
function isOfNoUse(servers: ServerStatus[] | undefined): boolean {
  return servers !== undefined && servers.length > 0 && servers.every(isFailing);
}

const READ: Record<Exclude<LsKind, 'servers'>, (connection: CommandConnection) => Promise<JsonObject[]>> = {
  tools: ({ client }) => orNone(client.listTools()),
  prompts: ({ client }) => orNone(client.listPrompts()),
  resources: async ({ client }) => [
    ...(await orNone(client.listResources())),
    ...(await orNone(client.listResourceTemplates())),
  ],
};

const METHOD_NOT_FOUND = -32601;

/** A server without the method has nothing to list. */
async function orNone(asked: Promise<object[]>): Promise<JsonObject[]> {
  try {
    return (await asked) as JsonObject[];
  } catch (thrown) {
    if (thrown instanceof ProtocolError && thrown.code === METHOD_NOT_FOUND) return [];
    throw thrown;
  }
}

/** Adds the server of each entry, where it is known. */
function withOwners([kind, entries]: ListedEntries, servers: ServerStatus[] | undefined): ListedEntries {
  if (kind === 'servers') return [kind, entries.map(({ toolNames: _, ...server }) => server)];
  if (!servers) return [kind, entries];
  return [
    kind,
    entries.map((entry) => {
      const server = findOwningServer(kind, entry, servers);
      return server === undefined ? entry : { ...entry, server };
    }),
  ];
}

function show(found: ListedEntries[], { json, what }: LsCommand, print: Printer): void {
  if (json) {
    const [first] = found;
    return print.line(JSON.stringify(what === undefined ? Object.fromEntries(found) : first![1], undefined, 2));
  }
  const isOne = what !== undefined;
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  found.forEach(([kind, entries], index) => {
    if (!isOne) print.line(`${index === 0 ? '' : '\n'}${print.style('bold', kind)} (${entries.length})`);
    if (entries.length === 0) return;
    const [head, ...lines] = toTable(rowsOf(kind, entries), { indent: isOne ? '' : '  ', width });
    print.line(print.style('dim', head!));
    for (const line of lines) print.line(line);
  });
}

function rowsOf(kind: LsKind, entries: JsonObject[]): string[][] {
  if (kind === 'servers') return [STATUS_HEADINGS, ...toStatusRows(entries as object[] as ServerStatus[])];
  const hasOwners = entries.some(({ server }) => server !== undefined);
  const takes = kind === 'tools';
  const head = [HEADINGS[kind], ...(hasOwners ? ['SERVER'] : []), ...(takes ? ['ARGUMENTS'] : []), 'DESCRIPTION'];
  return [head, ...entries.map((entry) => toRow(entry, { hasOwners, takes }))];
}

/** A tool may take dozens; the rest of them is in `call TOOL --help`. */
const MAX_ARGUMENTS = 40;

function toRow(entry: JsonObject, { hasOwners, takes }: { hasOwners: boolean; takes: boolean }): string[] {
  const { name, uri, uriTemplate, title, description, server } = entry;
  const away = isObject(entry._meta) && UNAVAILABLE_KEY in entry._meta ? '(its server is away) ' : '';
  const words = firstSentence(String(description ?? title ?? (uri === undefined ? '' : name)));
  const names = takes ? [shortened(toArgumentNames(entry.inputSchema))] : [];
  return [
    String(uri ?? uriTemplate ?? name),
    ...(hasOwners ? [String(server ?? '-')] : []),
    ...names,
    `${away}${words}`,
  ];
}

function shortened(text: string): string {
  return text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS - 1)}…` : text;
}
