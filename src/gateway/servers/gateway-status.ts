// The status of a gateway: the state of its servers and the number of their tools; and the page /status. For operators, as failures name commands and paths (page-access.ts).
import { looseClient } from '../../mcp/eras/own-clients.ts';
import type { ClientView } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Target } from '../../kernel/target.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import type { NodeReport } from '../../kernel/nodes/nodes.ts';
import { pages } from '../../kernel/pages.ts';
import { tokensOfTools } from '../../kernel/text/tool-cost.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import { describeConfinements } from '../../mcp/connect/confinements.ts';
import type { ConfinementStatus } from '../../mcp/connect/confinement-options.ts';
import { isServerTarget } from './target-options.ts';
import { secrets } from '../../kernel/secrets/secrets.ts';
import { settledWithin } from '../../kernel/base/timing.ts';
import type { HttpHandler, HttpResponse } from '../../kernel/base/http.ts';
import { version } from '../../kernel/version.ts';
import { LIST_TOOLS } from '../../kernel/methods.ts';

export interface ServerStatus extends ConfinementStatus {
  name: string;
  state: 'idle' | 'starting' | 'ready' | 'failing';
  /** Name and version of the server, and what it speaks; null until it has connected once. */
  info: { name: string; version: string } | null;
  era: string | null;
  revision: string | null;
  transport: string | null;
  /** Tools that clients see; null if the server cannot be asked. */
  tools: number | null;
  /** What these tools cost the context of a model, as an estimate; null if the server cannot be asked. */
  tokens: number | null;
  /** Tools of the server, including those that rules hide. */
  ownTools: number | null;
  /** Tools that nobody can use until their definitions are accepted; absent if there are none. */
  held?: number;
  failure: string | null;
  /** Names of the tools as the server gives them, as far as known. */
  toolNames: string[];
  /** What is wrong or suspicious in its definitions; absent if nothing is. */
  findings?: readonly string[];
}

export interface GatewayStatus {
  /** These three are null for a gateway embedded in another program, which reports only the state of its servers. */
  version: string | null;
  pid: number | null;
  started: string | null;
  servers: ServerStatus[];
  /** Names of the servers in each group. */
  groups: Record<string, readonly string[]>;
  /** The gateways that serve as one, the one that was asked first; absent if it is alone. */
  nodes?: readonly NodeReport[];
}

interface StatusSource {
  readonly servers: { name: string; target: Target }[];
  readonly groups?: Record<string, readonly string[]>;
  readonly nodes?: readonly NodeReport[];
  /** The tools of a server that rules let clients see. Default: all. */
  shownTools?(listed: { server: string; tools: JsonObject[] }, client: ClientView): Promise<JsonObject[]>;
}

type Tools = Pick<ServerStatus, 'tools' | 'tokens' | 'ownTools' | 'toolNames' | 'held'>;

const UNKNOWN_TOOLS: Tools = { tools: null, tokens: null, ownTools: null, toolNames: [] };

const COUNT_MS = 5000;

export function createStatusPage(gateway: () => StatusSource, started: string): HttpHandler {
  return (request, response) => {
    if (request.method !== 'GET') return answer(response, 405, { error: 'GET' });
    const asked = readStatus(gateway(), started).then((status) => answer(response, 200, status));
    asked.catch(() => answer(response, 500, { error: 'the status is not available' }));
  };
}

export async function readStatus(gateway: StatusSource, started: string): Promise<GatewayStatus> {
  const { servers, groups = {}, nodes = [] } = gateway;
  const told = await Promise.all(servers.map((server) => statusOf(server, gateway)));
  return { version: version(), pid: process.pid, started, servers: told, groups, ...(nodes.length > 0 && { nodes }) };
}

async function statusOf(
  { name, target }: StatusSource['servers'][number],
  gateway: StatusSource,
): Promise<ServerStatus> {
  if (!isServerTarget(target)) {
    const inside = { name, state: 'ready', era: null, revision: null, transport: 'in-process', failure: null } as const;
    return { ...inside, info: toInfo(target.info), ...(await toolsOf({ name, target }, gateway)) };
  }
  const { state, server, transport = null, failure = null, command, findings } = target.status;
  return {
    name,
    state,
    info: server ? secrets.maskDeep(toInfo(server.info)) : null,
    era: server?.dialect ?? null,
    revision: server?.revision ?? null,
    transport,
    failure: state === 'ready' ? null : secrets.maskDeep(failure),
    ...(command && (await describeConfinements(command))),
    ...(findings.length > 0 && { findings: secrets.maskDeep(findings) }),
    ...(state === 'ready' ? await toolsOf({ name, target }, gateway) : UNKNOWN_TOOLS),
  };
}

function toInfo({ name, version }: { name: string; version: string }): { name: string; version: string } {
  return { name, version };
}

/** Unknown if the server or a step does not answer in time. */
async function toolsOf(
  { name: server, target }: StatusSource['servers'][number],
  gateway: StatusSource,
): Promise<Tools> {
  const giveUp = new AbortController();
  let found = UNKNOWN_TOOLS;
  const looked = lookAtTools(target, giveUp.signal).then(async (tools) => {
    found = { ...UNKNOWN_TOOLS, ownTools: tools.length, toolNames: tools.map(({ name }) => String(name)) };
    const held = target.heldBack?.('tools');
    const free = tools.filter(({ name }) => !held?.has(String(name)));
    const shown = (await gateway.shownTools?.({ server, tools: free }, OBSERVER)) ?? free;
    const count = tools.length - free.length;
    found = { ...found, tools: shown.length, tokens: tokensOfTools(shown), ...(count > 0 && { held: count }) };
  });
  if (!(await settledWithin(looked, COUNT_MS))) giveUp.abort();
  return found;
}

/** All tools of a server, on a connection that is open. */
export async function lookAtTools(target: Target, signal: AbortSignal): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  const fetch = async (params: JsonObject) => (await list(target, params, signal)) ?? {};
  for await (const { tools } of pages({ key: 'tools', fetch })) {
    if (Array.isArray(tools)) found.push(...(tools as unknown[]).filter(isObject));
  }
  return found;
}

/** Looking at the status must not start a process per client. */
async function list(target: Target, params: JsonObject, signal: AbortSignal): Promise<JsonObject | undefined> {
  if (isServerTarget(target)) return target.look(LIST_TOOLS, params, signal);
  return toPlainObject(await target.handle(new InternalExchange(LIST_TOOLS, params, OBSERVER, signal)));
}

/** A client that sees what any client sees. */
export const OBSERVER: ClientView = { ...looseClient('parley-status'), revision: 'status' };

function answer(response: HttpResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}
