// Routes requests of MCP Flow: `interaction.start` goes to the member that has the tool, all others to the member that holds the session. Servers' own
// session ids are replaced by public ones in everything that reaches a client, and the other way round. For any other client the session does not exist.
import type { Exchange, Run, Ask, ClientView } from '../../kernel/exchange.ts';
import { RECEIPT, withOwnStartId, isInteraction, isNotInteractive, flowOf } from '../../kernel/interaction.ts';
import { isObject, readString } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { readPlayAsCall, toPlayAsCall } from '../../kernel/flow/play-as-call.ts';
import { mapMembers } from '../../kernel/raw/exact-numbers.ts';
import { fieldOf, toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import type { Watcher, Target } from '../../kernel/target.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { FLOW_ACKNOWLEDGE, FLOW_CANCEL, FLOW_START, TELL_CAPABILITIES } from '../../kernel/methods.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { unlessLate } from '../../kernel/base/timing.ts';
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

/** Maps a server's session id to the client's. */
type SessionIdPublisher = (sessionId: unknown) => unknown;

/** What ends a session is always possible. */
const ENDINGS = new Set([FLOW_CANCEL, FLOW_ACKNOWLEDGE]);

export async function routeFlow(exchange: Exchange, routing: FlowRouting): Promise<JsonObject> {
  return exchange.method === FLOW_START ? start(exchange, routing) : goOn(exchange, routing);
}

async function start(exchange: Exchange, { ownerOf, declarations, ids }: FlowRouting): Promise<JsonObject> {
  const tool = readString(exchange.params, 'toolName');
  const owner = await ownerOf(tool, exchange);
  if (!owner) throw new GatewayError('INVALID_PARAMS', { data: { toolName: tool, error: 'There is no such tool' } });
  const { member, name } = owner;
  const { interactive } = await declarations.of(member, exchange.client);
  if (interactive !== true) return toPlayAsCall({ tool, wantedBy: 'server' });
  const { client, runGuard } = exchange;
  const publish = publisherOf(member, ids, client.principal, { tool: name, rules: runGuard?.rules });
  const params = { ...withOwnStartId(exchange.params, client.principal), toolName: name };
  const own = toServerSession(exchange, params, publish);
  try {
    const result = toPlainObject(await handTo(member, own));
    if (readPlayAsCall(result)) return result; // the member is a chain of steps
    const started = publishSessionIds(result, publish);
    runGuard?.began(String(started.sessionId));
    return started;
  } catch (thrown) {
    if (isNotInteractive(thrown)) return toPlayAsCall({ tool, wantedBy: 'server' });
    throw publishError(thrown, name, tool, false);
  }
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

export function publisherOf(
  { name }: Member,
  ids: PublicIds,
  principal: string,
  begun?: BegunFlow,
): SessionIdPublisher {
  return (sessionId) => ids.publish(name, sessionId, principal, begun);
}

/** The request with the server's own ids; what is sent back has public ones. */
function toServerSession(exchange: Exchange, params: JsonObject, publish: SessionIdPublisher): Exchange {
  return deriveExchange(exchange, {
    params,
    channel: {
      ask: (ask, signal) => exchange.ask(publishAsk(ask, publish), signal),
      notify: (method, sent) => exchange.notify(method, sent && publishSessionIds(sent, publish)),
    },
  });
}

/** Replaces the session ids in a result or notification. */
function publishSessionIds(holder: JsonObject, publish: SessionIdPublisher): JsonObject {
  const { sessionId, next } = holder;
  return {
    ...holder,
    ...(typeof sessionId === 'string' && { sessionId: publish(sessionId) }),
    ...(isObject(next) && { next: publishSessionIds(next, publish) }),
  };
}

function publishAsk(ask: Ask, publish: SessionIdPublisher): Ask {
  if (!isInteraction(ask.method) || !ask.params) return ask;
  return { ...ask, params: publishSessionIds(ask.params, publish) };
}

/** Replaces the server's session id or tool name in an error. Ids are also replaced in its message; a name could be any word. */
function publishError(thrown: unknown, own: string, shown: string, isId: boolean): unknown {
  if (own === shown) return thrown;
  const rename = (holder: unknown): unknown =>
    isObject(holder) ? mapMembers(holder, (value) => (value === own ? shown : value)) : holder;
  if (thrown instanceof ProtocolError) {
    const message = isId ? thrown.message.replaceAll(own, shown) : thrown.message;
    return new ProtocolError(thrown.code, message, rename(thrown.data));
  }
  if (!(thrown instanceof GatewayError)) return thrown;
  return new GatewayError(thrown.code, rename(thrown.details) as JsonObject, { cause: thrown });
}

/** Replaces the session in the receipt of a call: a gateway in front acknowledges it by its public id. */
export function publishReceipt({ client, server }: Exchange, result: ResultObject, ids: PublicIds): ResultObject {
  const meta = fieldOf(result, '_meta');
  if (!isObject(meta) || typeof meta[RECEIPT] !== 'string' || server === undefined) return result;
  const receipt = ids.publish(server, meta[RECEIPT], client.principal);
  return { ...toPlainObject(result), _meta: { ...meta, [RECEIPT]: receipt } };
}

/** Wraps a watching client so that it gets its own session ids. */
export function publishForWatcher(watcher: Watcher, publish: SessionIdPublisher): Watcher {
  return {
    ...watcher,
    ...(watcher.ask && { ask: (ask, signal) => watcher.ask!(publishAsk(ask, publish), signal) }),
    ...(watcher.notify && {
      notify: (method, params) => watcher.notify!(method, params && publishSessionIds(params, publish)),
    }),
  };
}

/** The server may have been replaced by then. */
const ASK_AGAIN_MS = 60_000;
/** How long a client may wait for a server that starts. */
const START_MS = 10_000;
const NOT_INTERACTIVE: JsonObject = { interactive: false };

/**
 * Finds out which members have interactive tools (MCP Flow). A member declares it in its capabilities, or in its answer to the
 * method `capabilities`. The others are asked when a client wants to know, and again after a while.
 */
export class FlowDeclarations {
  readonly #clock: Clock;
  readonly #asked = new WeakMap<Target, { declaration: JsonObject; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of({ target }: Member, client: ClientView): Promise<JsonObject> {
    await target.ready?.(client);
    const declared = flowOf(target.capabilities(client));
    if (declared) return declared;
    const known = this.#asked.get(target);
    if (known && known.until > ticksOf(this.#clock)) return known.declaration;
    const declaration = await ask(target, client);
    this.#asked.set(target, { declaration, until: ticksOf(this.#clock) + ASK_AGAIN_MS });
    return declaration;
  }

  /** The merged declaration. Sessions are persistent only if all members' are. */
  async merged(members: readonly Member[], client: ClientView, isDurable: boolean): Promise<JsonObject> {
    const asked = await Promise.all(members.map((member) => this.#soon(this.of(member, client))));
    const speaking = asked.filter(({ interactive }) => interactive === true);
    const [first] = speaking;
    if (!first) return NOT_INTERACTIVE;
    const features = speaking.map((one) => (isObject(one.features) ? one.features : {}));
    const names = new Set(features.flatMap((one) => Object.keys(one)));
    const anyHas = (name: string): boolean => features.some((one) => one[name] === true);
    const sessionPersistence =
      isDurable && speaking.length === members.length && features.every((one) => one.sessionPersistence === true);
    return {
      interactive: true,
      version: first.version,
      features: { ...Object.fromEntries([...names].map((name) => [name, anyHas(name)])), sessionPersistence },
    };
  }

  /** A server that is away or slow counts as not interactive. */
  async #soon(declaration: Promise<JsonObject>): Promise<JsonObject> {
    const declared = declaration.catch(() => NOT_INTERACTIVE);
    return (await unlessLate(declared, this.#clock, START_MS)) ?? NOT_INTERACTIVE;
  }
}

const REFUSALS = new Set<string>(['METHOD_NOT_FOUND', 'NOT_SUPPORTED']);

async function ask(target: Target, client: ClientView): Promise<JsonObject> {
  try {
    return toPlainObject(await target.handle(new InternalExchange(TELL_CAPABILITIES, {}, client)));
  } catch (thrown) {
    const isRefused = thrown instanceof ProtocolError || (thrown instanceof GatewayError && REFUSALS.has(thrown.code));
    if (isRefused) return NOT_INTERACTIVE;
    throw thrown;
  }
}
