// Serves flows as tools of a server. Clients list and call them like other tools, or use the methods of MCP Flow.
import { randomBytes } from 'node:crypto';
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../kernel/exchange.ts';
import { FLOW_VERSION, withCalls } from '../../kernel/interaction.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { FLOW_START } from '../../kernel/methods.ts';
import type { Server } from '../../sdk/server/server.ts';
import { isAnonymous } from '../../kernel/base/anonymous.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { refuseShort } from '../../kernel/crypto/state-keys.ts';
import type { HttpHandler } from '../../kernel/base/http.ts';
import { toSafeLog } from '../../kernel/base/log.ts';
import { checkOptionNames } from '../authoring/options.ts';
import type { NamesOf } from '../authoring/options.ts';
import { callFlow } from '../channel/call-flow.ts';
import type { FlowCallContext } from '../channel/call-flow.ts';
import { CallReceipts, SentResults } from '../channel/call-receipts.ts';
import { toDurationMs } from '../define.ts';
import type { AnyFlow } from '../define.ts';
import type { FlowSessions } from '../flow-sessions.ts';
import { readExplored } from '../explore/exploration.ts';
import { fitInputSchema, namesModelsRefuse } from '../explore/to-input-schema.ts';
import { OpenSessions } from '../flow-metrics.ts';
import { EVENT_PATH } from '../session/values/event-url.ts';
import { PERSON_PATH } from '../session/external/people.ts';
import { toTombstoneMs } from '../session/context/flow-limits.ts';
import type { FlowLimits } from '../session/context/flow-limits.ts';
import { Sessions } from '../session/sessions.ts';
import type { SessionOptions } from '../session/context/session-context.ts';
import { shareOf } from '../header.ts';
import { createSignedTokens } from '../token/signed-tokens.ts';
import { createTokens } from '../token/tokens.ts';
import { TokenSessions } from '../token/token-sessions.ts';
import { AskedPeople } from './asked-people.ts';
import { createStoredAccess, createTokenAccess, createFlowMethods } from './flow-methods.ts';
import type { SessionAccess } from './flow-methods.ts';
import { watchElsewhere } from './changed-elsewhere.ts';
import { eventPage } from './event-page.ts';
import { PromptDelivery } from './prompt-delivery.ts';

export interface ServeFlowsOptions extends SessionOptions {
  /** False: no MCP Flow methods; the tools can still be called. */
  interactive?: boolean | undefined;
  /** Keep MCP Flow sessions in signed tokens instead of a store; needs `keys`. */
  tokens?: 'signed' | undefined;
  /** Bytes for each flow in the list of tools. Questions that do not fit are not listed as arguments. Default: 4096. */
  listBytes?: number | undefined;
  /**
   * Who may open the link of a person (`ask.person`). `bearer`: everyone who has it, unless `identify` names another person.
   * `identified`: only a browser that `identify` names as that person. Default: `identified` if the server has `identify`,
   * `bearer` with `auth`, as browsers send no keys and no tokens.
   */
  personLinks?: 'identified' | 'bearer' | undefined;
}

const LIST_BYTES = 4096;

const OPTIONS: NamesOf<ServeFlowsOptions> = {
  interactive: true,
  tokens: true,
  listBytes: true,
  personLinks: true,
  store: true,
  sealResults: true,
  clock: true,
  log: true,
  limits: true,
  keys: true,
  tools: true,
  explored: true,
  checks: true,
  warm: true,
  virtual: true,
  sweep: true,
  newId: true,
  newSeed: true,
  graceMs: true,
  leaseMs: true,
  claimOnce: true,
  baseUrl: true,
  notify: true,
};

/**
 * Offers flows as tools of a server, to every kind of client. Call it before `listen`.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 * import { flow, serveFlows } from 'mcp-parley/flow';
 *
 * const trip = flow({ name: 'trip' }, async (ask) => `Booked: ${await ask.text('city')}`);
 * const server = createServer({ name: 'trips', version: '1.0.0' });
 * serveFlows(server, [trip]);
 * await server.listen({ port: 8471 });
 * ```
 */
export function serveFlows(server: Server, flows: readonly AnyFlow[], options: ServeFlowsOptions = {}): FlowSessions {
  checkOptionNames(options, OPTIONS, 'serveFlows()');
  refuseShort(options.keys);
  const { log = server.options.log, clock = server.options.clock } = options;
  const given = options.keys ?? server.options.keys;
  const keys = given ?? [randomBytes(32).toString('base64')];
  const explored = readExplored(options.explored, toSafeLog(log));
  const sealResults = options.sealResults ?? given !== undefined;
  const baseUrl = options.baseUrl ?? (() => server.baseUrl());
  const whole = { ...options, log, clock, keys, explored, sealResults, baseUrl };
  const sessions = new Sessions(flows, whole);
  const called = createCallContext(flows, sessions, whole);
  const access = options.tokens
    ? createTokenAccess(carriedBySessions(flows, { ...whole, keys: options.keys }))
    : createStoredAccess(sessions);
  const { delivery, people, stop } = connectDelivery(access, sessions);
  const { listBytes = LIST_BYTES } = options;
  for (const flow of flows) addTool(server, flow, { called, listBytes });
  const declaration = declare(options, access);
  const native =
    options.interactive === false
      ? { [FLOW_START]: notInteractive }
      : createFlowMethods({ access, delivery, isPlainTool: (name, client) => server.hasTool(name, client) });
  const everywhere = [...new Set([sessions, access.sessions, called.tokenSessions.sessions])];
  const open = new OpenSessions(sessions.context, sessions.flows.keys());
  server.extend({
    asks: true,
    reached: once(() => warnWithoutIdentify(server, access)),
    pages: { [EVENT_PATH]: eventPage(sessions), [PERSON_PATH]: toPersonPage(server, sessions, options) },
    metrics: async () => [...everywhere.flatMap(({ context: { counts } }) => counts.families()), await open.family()],
    methods: { ...native, ...called.receipts.methods(sessions), capabilities: () => declaration },
    capabilities: () => withCalls(declaration, { startIds: access.isStored, receipts: true }) as ServerCapabilities,
    attend(watcher) {
      const leaving = [delivery.attend(watcher), people.attend(watcher)];
      return () => {
        for (const leave of leaving) leave();
        void endWith(watcher.client, access.sessions);
      };
    },
    async close() {
      stop();
      await Promise.all(everywhere.map((all) => all.close()));
    },
  });
  return sessions;
}

function toPersonPage(server: Server, sessions: Sessions, { personLinks }: ServeFlowsOptions): HttpHandler {
  const { title, name } = server.info;
  const identify = () => server.identifyVisitor;
  const options = {
    server: title ?? name,
    identify,
    trustsLinks: () => (personLinks ? personLinks === 'bearer' : server.trustsLinks),
  };
  let page: Promise<HttpHandler> | undefined; // loaded with the first request
  return (request, response) => {
    page ??= import('./person-page.ts').then(({ personPage }) => personPage(sessions, options));
    page.then(
      (handle) => handle(request, response),
      () => response.writeHead(503).end(),
    );
  };
}

/** Connects events of sessions to clients, and to people, whose questions are always in the store. */
function connectDelivery(
  access: SessionAccess,
  kept: Sessions,
): { delivery: PromptDelivery; people: AskedPeople; stop: () => void } {
  const { sessions } = access;
  const { log, clock } = sessions.context;
  const onHeard = (sessionId: string): void => {
    access.acknowledge(sessionId).catch((error: unknown) => log.warn({ error }, 'flow.store-failed'));
  };
  const delivery = new PromptDelivery({ log, clock, onHeard });
  const people = new AskedPeople(kept, delivery);
  const stopPeople = kept.on((event) => people.hear(event));
  const stop = sessions.on((event) => {
    if (event.kind === 'turn') delivery.moved(event.turn);
    else if (event.kind === 'expired') delivery.expired(event.header);
    else if (event.kind === 'cancelled') delivery.cancelled(event.header);
    else if (event.kind === 'warning') delivery.warn(event);
    else if (event.kind === 'person') delivery.person(event.header);
    else if (event.kind === 'progress') delivery.progress(event);
  });
  const stopElsewhere = watchElsewhere(sessions, delivery);
  return {
    delivery,
    people,
    stop() {
      stop();
      stopPeople();
      stopElsewhere();
    },
  };
}

/** The list entry has declared and explored arguments, and never changes. */
function addTool(
  server: Server,
  flow: AnyFlow,
  { called, listBytes }: { called: FlowCallContext; listBytes: number },
): void {
  const { title, description, icons, annotations, meta } = flow.options;
  const about = Object.fromEntries(
    Object.entries({ title, description, icons, annotations, meta }).filter(([, value]) => value !== undefined),
  );
  const { log } = called.sessions.context;
  const taken = Buffer.byteLength(JSON.stringify({ name: flow.name, ...about, inputSchema: '' }));
  const { schema: input, left } = fitInputSchema(flow, called.sessions.explored(flow), { maxBytes: listBytes - taken });
  if (left > 0) log.warn({ tool: flow.name, listBytes, notListed: left }, 'flow.list-cut');
  const refused = namesModelsRefuse(input);
  if (refused.length > 0) log.warn({ tool: flow.name, names: refused }, 'flow.argument-names');
  server.answeredTool(
    flow.name,
    { ...about, input, ...(flow.options.long && { task: 'optional' as const }) },
    (exchange) => callFlow(exchange, flow, called),
    { taskTtlMs: toTaskTtlMs(flow, called.sessions.context.limits) },
  );
}

/** Its task lives as long as its session may, and then as long as its result is kept. */
function toTaskTtlMs(flow: AnyFlow, limits: FlowLimits): number {
  const durationMs = toDurationMs(flow, limits);
  return durationMs + toTombstoneMs(limits, { createdAt: 0, deadline: durationMs });
}

function createCallContext(flows: readonly AnyFlow[], sessions: Sessions, options: ServeFlowsOptions): FlowCallContext {
  return {
    sessions,
    tokenSessions: carriedByCalls(flows, { ...options, store: sessions.context.store }),
    waiting: new Map(),
    receipts: new CallReceipts(),
    sent: new SentResults(sessions.context),
  };
}

/** Sessions of calls whose state travels with each question. Their files and secrets are in the store. */
function carriedByCalls(flows: readonly AnyFlow[], { tokens: _, store: shared, ...options }: ServeFlowsOptions) {
  const tokens = createTokens({ keys: options.keys!, clock: options.clock });
  return new TokenSessions(flows, { ...options, shared, tokens, mayOutgrow: true });
}

function carriedBySessions(flows: readonly AnyFlow[], { tokens: _, store: shared, ...options }: ServeFlowsOptions) {
  const { keys, clock } = options;
  if (!keys?.length) throw new GatewayError('BAD_OPTION', { option: 'keys', reason: 'tokens need one' });
  return new TokenSessions(flows, {
    ...options,
    shared,
    tokens: createSignedTokens({ keys, clock, store: shared }),
  });
}

function declare({ interactive = true }: ServeFlowsOptions, { isStored, sessions }: SessionAccess): JsonObject {
  if (!interactive) return { interactive: false };
  const features = {
    statefulSessions: isStored,
    progressTracking: true,
    validation: true,
    multiplePromptTypes: true,
    sessionPersistence: isStored && sessions.context.store.durable,
  };
  return { interactive: true, version: FLOW_VERSION, features };
}

/** A durable store does not help callers whose sessions end with their connection. */
function warnWithoutIdentify({ options }: Server, { isStored, sessions }: SessionAccess): void {
  const { store, log } = sessions.context;
  if (options.identify || options.auth || !isStored || !store.durable) return;
  const reason =
    'the store is durable, but callers are not identified: no caller can come back to a session after a restart';
  const advice = 'Give createServer the option identify, which says from a request who calls.';
  log.warn({ reason, advice }, 'flow.no-identify');
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

/** Ends the sessions of an anonymous caller, who can never come back. Other sessions stay until they expire. */
async function endWith(client: ClientView, sessions: Sessions): Promise<void> {
  const { principal } = client;
  if (!isAnonymous(principal)) return;
  try {
    for (const { id: sessionId } of await sessions.list(principal, shareOf(client))) {
      await sessions.cancel({ principal, sessionId, reason: 'The connection has ended' }).catch(() => {}); // it ended already
    }
  } catch (error) {
    sessions.context.log.warn({ error }, 'flow.store-failed');
  }
}

function notInteractive(): never {
  throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool: 'This server' });
}
