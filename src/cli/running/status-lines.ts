// Formats the state of servers for the terminal.
import { confinementsOf } from '../../mcp/connect/confinements.ts';
import { toSpokenRevision } from '../../mcp/eras/revisions.ts';
import { toTransportName } from '../serving/bridge-line.ts';
import type { Printer, Style } from '../../kernel/command/printer.ts';
import type { GatewayStatus, ServerStatus } from '../../gateway/servers/gateway-status.ts';
import type { NodeReport } from '../../kernel/nodes/nodes.ts';
import { toTable } from '../../kernel/command/table.ts';

const COLOURS: Record<ServerStatus['state'], Style> = {
  ready: 'green',
  failing: 'red',
  starting: 'yellow',
  idle: 'dim',
};

export const STATUS_HEADINGS: string[] = ['SERVER', 'STATE', 'SPEAKS', 'ERA', 'OVER', 'TOOLS', 'TOKENS', 'IS'];

export function toStatusHeading(
  { version, pid, started }: Omit<GatewayStatus, 'servers' | 'groups'>,
  url: string | undefined,
): string {
  const where = url === undefined ? 'on stdio' : `at ${url}`;
  if (started === null) return `Parley inside another program, ${where}; that program's log says why a server fails`;
  return `Parley ${version} ${where}, process ${pid}, up ${toSpan(Date.now() - Date.parse(started))}`;
}

export function toServerLines(servers: ServerStatus[], print: Printer): string[] {
  if (servers.length === 0) return ['  no servers'];
  const [head, ...lines] = toTable([STATUS_HEADINGS, ...toStatusRows(servers)], { indent: '  ' });
  const body = servers.flatMap((server, index) => [
    lines[index]!.replace(` ${server.state} `, ` ${print.style(COLOURS[server.state], server.state)} `),
    ...(server.failure === null ? [] : [`      ${indented(server.failure)}`]),
    ...toConfinementLines(server),
  ]);
  return [print.style('dim', head!), ...body];
}

/** The gateways that serve as one; no lines if it is alone. */
export function toNodeLines(nodes: readonly NodeReport[], print: Printer): string[] {
  if (nodes.length === 0) return [];
  const [head, ...lines] = toTable([NODE_HEADINGS, ...nodes.map(toNodeRow)], { indent: '  ' });
  return [print.style('dim', head!), ...lines];
}

const NODE_HEADINGS = ['NODE', 'AT', 'STATE', 'VERSION', 'UP', 'SESSIONS', 'CONFIGURATION'];

function toNodeRow({ node, url, isSelf, isDraining, version, started, sessions, differs }: NodeReport): string[] {
  const told = differs.length > 0 ? `differs from this one in ${differs.join(', ')}` : 'the same';
  return [
    node,
    url,
    isDraining ? 'draining' : version === null ? 'listed' : 'serving',
    version ?? '-',
    started === null ? '-' : toSpan(Date.now() - Date.parse(started)),
    sessions === null ? '-' : String(sessions),
    isSelf ? 'this one' : version === null ? '-' : told,
  ];
}

/** Only where a sandbox or the like was asked for: most servers have none. */
function toConfinementLines(server: ServerStatus): string[] {
  return confinementsOf(server).flatMap(([key, { kind, holds }]) =>
    holds === undefined ? [] : [`      ${key}: ${kind}; ${holds}`],
  );
}

export function toStatusRows(servers: ServerStatus[]): string[][] {
  return servers.map(({ name, state, era, revision, transport, info, ...counts }) => [
    name,
    state,
    era === null || revision === null ? '-' : toSpokenRevision({ dialect: era, revision }),
    era ?? '-',
    transport === null ? '-' : toTransportName(transport),
    toCount(counts),
    toTokens(counts),
    info === null ? '' : `${info.name} ${info.version}`,
  ]);
}

/** `3`, or `3 of 5` if rules hide some from clients, or some are held back. */
function toCount({ tools, ownTools, held }: Pick<ServerStatus, 'tools' | 'ownTools' | 'held'>): string {
  if (tools === null) return '-';
  if (held !== undefined) return `${tools} of ${ownTools}, ${held} held: parley pins`;
  return tools === (ownTools ?? tools) ? String(tools) : `${tools} of ${ownTools}`;
}

/** What a client's model gets of it. */
function toTokens({ tokens }: Pick<ServerStatus, 'tokens'>): string {
  return tokens === null || tokens === undefined ? '-' : tokens.toLocaleString('en-US');
}

export function isFailing({ state }: ServerStatus): boolean {
  return state === 'failing';
}

/** `3 min` or `2 h 5 min`. */
function toSpan(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A failure may quote many lines of the server. */
function indented(text: string): string {
  return text.trim().split('\n').join('\n      ');
}
