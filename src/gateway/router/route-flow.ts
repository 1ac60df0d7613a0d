// Routes requests of MCP Flow: `interaction.start` goes to the member that has the tool, all others to the member that holds the
// session, under a public id. For any other client the session does not exist.
import type { Exchange, Run } from '../../protocol/exchange.ts';
import { RECEIPT, withOwnStartId } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject, readString } from '../../protocol/message.ts';
import { fieldOf, toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { FlowDeclarations } from './flow-declarations.ts';
import { publishError, publishSessionIds, toServerSession } from './flow-session-ids.ts';
import type { SessionIdPublisher } from './flow-session-ids.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';
import type { PublicIds } from './public-ids.ts';

export interface FlowRouting {
  members: readonly Member[];
  ids: PublicIds;
  declarations: FlowDeclarations;
  /** The owner of a public tool name, and its own name for the tool. */
  ownerOf: (tool: string, exchange: Exchange) => Promise<{ member: Member; name: string } | undefined>;
  /** The public name of a member's tool. */
  nameOf: (member: Member, tool: string) => string;
}

type BegunFlow = Pick<Run, 'tool' | 'rules'>;

/** What ends a session is always possible. */
const ENDINGS = new Set(['interaction.cancel', 'interaction.acknowledge']);

export function publisherOf(
  { name }: Member,
  ids: PublicIds,
  principal: string,
  begun?: BegunFlow,
): SessionIdPublisher {
  return (sessionId) => ids.publish(name, sessionId, principal, begun);
}

export async function routeFlow(exchange: Exchange, routing: FlowRouting): Promise<JsonObject> {
  return exchange.method === 'interaction.start' ? start(exchange, routing) : goOn(exchange, routing);
}

async function start(exchange: Exchange, { ownerOf, declarations, ids }: FlowRouting): Promise<JsonObject> {
  const tool = readString(exchange.params, 'toolName');
  const owner = await ownerOf(tool, exchange);
  if (!owner) throw new GatewayError('INVALID_PARAMS', { data: { toolName: tool, error: 'There is no such tool' } });
  const { member, name } = owner;
  const { interactive } = await declarations.of(member, exchange.client);
  if (interactive !== true) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool });
  const { client, runGuard } = exchange;
  const publish = publisherOf(member, ids, client.principal, { tool: name, rules: runGuard?.rules });
  const params = { ...withOwnStartId(exchange.params, client.principal), toolName: name };
  const own = toServerSession(exchange, params, publish);
  try {
    const started = publishSessionIds(toPlainObject(await handTo(member, own)), publish);
    runGuard?.began(String(started.sessionId));
    return started;
  } catch (thrown) {
    throw publishError(thrown, name, tool, false);
  }
}

/** Replaces the session in the receipt of a call: a gateway in front acknowledges it by its public id. */
export function publishReceipt({ client, server }: Exchange, result: ResultObject, ids: PublicIds): ResultObject {
  const meta = fieldOf(result, '_meta');
  if (!isObject(meta) || typeof meta[RECEIPT] !== 'string' || server === undefined) return result;
  const receipt = ids.publish(server, meta[RECEIPT], client.principal);
  return { ...toPlainObject(result), _meta: { ...meta, [RECEIPT]: receipt } };
}

async function goOn(exchange: Exchange, { members, ids, nameOf }: FlowRouting): Promise<JsonObject> {
  const sessionId = readString(exchange.params, 'sessionId');
  const opened = ids.open(sessionId, exchange.client.principal);
  const member = opened && members.find(({ name }) => name === opened.server);
  if (!member) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
  if (!ENDINGS.has(exchange.method)) exchange.runGuard?.require({ ...opened, id: sessionId });
  const publish = (own: unknown): unknown =>
    own === opened.id ? sessionId : publisherOf(member, ids, exchange.client.principal)(own);
  const own = toServerSession(exchange, { ...exchange.params, sessionId: opened.id }, publish);
  try {
    const result = publishSessionIds(toPlainObject(await handTo(member, own)), publish);
    return withToolName(result, (tool) => nameOf(member, tool));
  } catch (thrown) {
    throw publishError(thrown, opened.id, sessionId, true);
  }
}

/** Replaces the tool name in the state of a session. */
function withToolName(result: JsonObject, toName: (tool: string) => string): JsonObject {
  const { metadata } = result;
  if (!isObject(metadata) || typeof metadata.toolName !== 'string') return result;
  return { ...result, metadata: { ...metadata, toolName: toName(metadata.toolName) } };
}
