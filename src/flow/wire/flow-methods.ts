// The methods of MCP Flow 0.1.0, and how they reach a session: in a store by its id, or in the token that a client sends (SessionAccess).
// A client that can receive requests gets the next question in one (`interaction.prompt`, `continue`, `complete`), after the reply to its
// own request. Any other client gets it in the reply, as `next`.
// 1. Each question is delivered once: in the reply to `start`, in a request, or in `next`.
// 2. The client that last used a session gets its messages.
import { nextArrival } from '../../kernel/arrival.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { isUnproven } from '../../kernel/form/human-marks.ts';
import { readOptionalPrompt, readOptionalStep, readResponse } from '../../kernel/form/prompt.ts';
import { isUnacknowledged, readStartId, readTimeout } from '../../kernel/interaction.ts';
import {
  isObject,
  readObject,
  readOptionalObject,
  readOptionalString,
  readString,
  toInvalid,
} from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import {
  FLOW_BACK,
  FLOW_CANCEL,
  FLOW_COMPLETE,
  FLOW_CONTINUE,
  FLOW_EDIT,
  FLOW_EXTEND,
  FLOW_HAND_OVER,
  FLOW_PROMPT,
  FLOW_RESPOND,
  FLOW_START,
  FLOW_STATE,
} from '../../kernel/methods.ts';
import type { RequestHandler } from '../../sdk/server/request-handler.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { AskFailure } from '../authoring/ask-failure.ts';
import { localeOf } from '../channel/locale-of.ts';
import { isOwner, shareOf, wasNotified } from '../header.ts';
import type { Sessions } from '../session/sessions.ts';
import { afterSteps } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { GivenAnswer, StartRequest } from '../session/context/requests.ts';
import type { StateView } from '../session/verbs/view.ts';
import type { TokenTurn, TokenSessions } from '../token/token-sessions.ts';
import { lookAgain, toPrompt, toNextMessage, toState, toValidation } from './flow-messages.ts';
import type { PromptDelivery } from './prompt-delivery.ts';

/** The session that a request names. */
interface SessionReference {
  principal: string;
  sessionId: string;
  token: string | undefined;
}

/** How requests reach sessions: in a store by their id, or in a token that the client sends. */
export interface SessionAccess {
  readonly sessions: Sessions;
  /** Sessions are in a store, so they can continue without a request. */
  readonly isStored: boolean;
  start(request: StartRequest): Promise<TokenTurn>;
  /** `act` carries out the request. */
  go(reference: SessionReference, act: (sessionId: string, sessions: Sessions) => Promise<Turn>): Promise<TokenTurn>;
  getState(reference: SessionReference): Promise<StateView>;
  /** The client knows how the session ended. */
  acknowledge(sessionId: string): Promise<void>;
}

interface FlowMethodsOptions {
  access: SessionAccess;
  delivery: PromptDelivery;
  /** Whether there is a tool of this name that is not a flow. */
  isPlainTool(name: string, client: ClientView): boolean;
}

/** By `response.metadata.action`. */
const UNANSWERED: Readonly<Record<string, AskFailure | undefined>> = {
  __proto__: null as never,
  decline: 'declined',
  cancel: 'cancelled',
};

const METHODS = {
  [FLOW_START]: 'start',
  [FLOW_RESPOND]: 'respond',
  [FLOW_CONTINUE]: 'continue',
  [FLOW_COMPLETE]: 'complete',
  [FLOW_CANCEL]: 'cancel',
  [FLOW_STATE]: 'getState',
  [FLOW_HAND_OVER]: 'handOver',
  [FLOW_BACK]: 'back',
  [FLOW_EDIT]: 'edit',
  [FLOW_EXTEND]: 'extend',
} as const;

export function createFlowMethods(options: FlowMethodsOptions): Record<string, RequestHandler> {
  const methods = new FlowMethods(options);
  const toAnswering =
    (verb: (typeof METHODS)[keyof typeof METHODS]): RequestHandler =>
    (exchange) => {
      options.delivery.speaks(exchange.client);
      return methods[verb](exchange);
    };
  return Object.fromEntries(Object.entries(METHODS).map(([method, verb]) => [method, toAnswering(verb)]));
}

class FlowMethods {
  readonly #access: SessionAccess;
  readonly #delivery: PromptDelivery;
  readonly #options: FlowMethodsOptions;

  constructor(options: FlowMethodsOptions) {
    this.#access = options.access;
    this.#delivery = options.delivery;
    this.#options = options;
  }

  async start(exchange: Exchange): Promise<JsonObject> {
    const { params, client } = exchange;
    const tool = readString(params, 'toolName');
    const args = readOptionalObject(params, 'initialParams');
    const context = readOptionalObject(params, 'context');
    this.#checkTool(tool, client);
    const { name, version } = client.info;
    const request = {
      principal: client.principal,
      share: shareOf(client),
      tool,
      args,
      context,
      client: { name, version },
      via: 'flow' as const,
      locale: localeOf(exchange, this.#access.sessions.flows.get(tool)?.options.messages),
    };
    const started = await this.#access.start({
      ...request,
      timeoutMs: readTimeout(params),
      startId: readStartId(params),
    });
    const served = { ...started, turn: await this.#first(started.turn, tool) };
    const [question] = served.turn.questions;
    const isAttached = question !== undefined && question.deliver !== 'prompt';
    const result = {
      sessionId: served.turn.header.id,
      state: 'idle',
      ...(isAttached && { initialPrompt: toPrompt(question), ...this.#lookAgain(exchange.client, served.turn) }),
    };
    return this.#told(exchange, served, result, { isAttached, isFirst: true });
  }

  async respond(exchange: Exchange): Promise<JsonObject> {
    const { response, ...about } = readResponse(exchange.params);
    const promptId = readOptionalString(exchange.params, 'promptId');
    const no = UNANSWERED[String(about.meta?.['action'])];
    if (!no && !('value' in response)) throw toInvalid('response.value', 'Required parameter missing');
    const given = no ? { no } : { value: response.value };
    const answers = [{ ...given, ...about, ...(await this.#meant(exchange, promptId)) }];
    const served = await this.#go(exchange, (session, sessions) =>
      sessions.answer({ ...session, answers, src: 'human', via: 'flow', isUnproven: isUnproven(exchange) }),
    );
    if (!isCaller(served.turn, exchange)) return this.#toldPerson(exchange, served.turn);
    return this.#told(exchange, served, toValidation(served.turn));
  }

  /** A person who is asked hands the question to another person. */
  async handOver(exchange: Exchange): Promise<JsonObject> {
    const [promptId, to] = [readString(exchange.params, 'promptId'), readString(exchange.params, 'to')];
    await this.#go(exchange, (session, sessions) => sessions.handOver({ ...session, promptId, to }));
    return { handedOver: true };
  }

  async continue(exchange: Exchange): Promise<JsonObject> {
    const prompt = readOptionalPrompt(exchange.params, 'nextPrompt');
    const progress = readOptionalStep(exchange.params, 'progress');
    const { turn, token } = await this.#go(exchange, (session, sessions) =>
      sessions.continueByOwner({ ...session, prompt, progress }),
    );
    this.#delivery.sending(exchange.client, turn); // the client asked it itself
    return withToken({ acknowledged: true }, token);
  }

  async complete(exchange: Exchange): Promise<JsonObject> {
    const result = readObject(exchange.params, 'result');
    if (result.success !== undefined && typeof result.success !== 'boolean') {
      throw toInvalid('result.success', 'Must be true or false');
    }
    const summary = readOptionalString(exchange.params, 'summary');
    await this.#go(exchange, (session, sessions) =>
      sessions.completeByOwner({ ...session, result: result.data, summary }),
    );
    return { success: true, finalResult: isObject(result.data) ? result.data : {} };
  }

  async cancel(exchange: Exchange): Promise<JsonObject> {
    const reason = readOptionalString(exchange.params, 'reason');
    const { sessionId } = referenceOf(exchange);
    await this.#delivery.cancelling(sessionId, exchange.client, () =>
      this.#go(exchange, (session, sessions) => sessions.cancel({ ...session, reason })),
    );
    return { cancelled: true };
  }

  async getState(exchange: Exchange): Promise<JsonObject> {
    const reference = referenceOf(exchange);
    const view = await this.#access.getState(reference);
    if (isCaller(view, exchange)) this.#delivery.claim(view.header.id, exchange.client);
    this.#delivery.offering(exchange.client, view);
    return withToken({ ...toState(view), ...this.#lookAgain(exchange.client, view) }, reference.token);
  }

  async back(exchange: Exchange): Promise<JsonObject> {
    const key = readOptionalString(exchange.params, 'key');
    const served = await this.#go(exchange, (session, sessions) => sessions.back({ ...session, key }));
    return this.#told(exchange, served, { accepted: true });
  }

  async edit(exchange: Exchange): Promise<JsonObject> {
    const key = readString(exchange.params, 'key');
    const { value } = exchange.params;
    const served = await this.#go(exchange, (session, sessions) =>
      sessions.edit({ ...session, key, value, src: isUnproven(exchange) ? 'model' : 'human' }),
    );
    // A rejected edit changes nothing: the client has the open question already.
    return this.#told(exchange, served, toValidation(served.turn), { isAttached: served.turn.accepted === false });
  }

  async extend(exchange: Exchange): Promise<JsonObject> {
    const { turn, token } = await this.#go(exchange, (session, sessions) => sessions.extend(session));
    return withToken({ extended: true, expiresAt: turn.header.expiresAt }, token);
  }

  /** The question that an answer is for. A token belongs to its own question. */
  async #meant(exchange: Exchange, promptId: string | undefined): Promise<Partial<GivenAnswer>> {
    if (promptId !== undefined) return { promptId, isUnacknowledged: isUnacknowledged(exchange.params) };
    if (!this.#access.isStored) return {};
    const { client, params, arrival = nextArrival() } = exchange;
    const sent = await this.#delivery.sentTo(client, readString(params, 'sessionId'), arrival);
    return { sent: sent ?? null };
  }

  /** Waits for a flow that sets `firstQuestion`. Other flows reply at once that they are working. */
  async #first(turn: Turn, tool: string): Promise<Turn> {
    if (this.#access.sessions.flows.get(tool)?.options.firstQuestion === undefined) return turn;
    const first = await afterSteps(turn);
    if (first.failure?.name !== 'FLOW_TIMEOUT') return first;
    const { data } = first.failure;
    throw new GatewayError('FLOW_TIMEOUT', isObject(data) ? data : {});
  }

  /** A client that may use the session gets its messages from now on. */
  async #go(
    exchange: Exchange,
    act: (session: { principal: string; sessionId: string }, sessions: Sessions) => Promise<Turn>,
  ): Promise<TokenTurn> {
    const reference = referenceOf(exchange);
    const { principal } = reference;
    const served = await this.#access.go(reference, (sessionId, sessions) => act({ principal, sessionId }, sessions));
    const { header } = served.turn;
    if (isCaller(served.turn, exchange)) this.#delivery.claim(header.id, exchange.client);
    this.#delivery.withdraw(header, exchange.client);
    return served;
  }

  /** Replies to a request, and sends what comes next after it or in it. */
  async #told(
    { client }: Exchange,
    { turn, token }: TokenTurn,
    result: JsonObject,
    { isAttached = false, isFirst = false } = {},
  ): Promise<JsonObject> {
    const told = withToken(result, token);
    // After a rejected answer the client has the question already.
    if (isAttached || turn.accepted === false) this.#delivery.sending(client, turn);
    if (this.#delivery.canReach(client)) {
      this.#delivery.later(turn, client, isAttached ? undefined : toNextMessage(turn));
      return told;
    }
    if (isAttached) return told;
    // This client cannot be told later, so wait for the steps.
    const last = turn.next ? await afterSteps(turn) : turn;
    const next = toNextMessage(last);
    if (isFirst) this.#delivery.sending(client, last);
    else this.#delivery.offering(client, last);
    const said = next && { method: next.method, ...next.params, ...this.#lookAgain(client, last) };
    return { ...told, next: { state: last.header.state, ...said } };
  }

  /** Replies to another person: the same question after a rejected answer, or their next one, and nothing else. */
  #toldPerson({ client }: Exchange, turn: Turn): JsonObject {
    const { header, accepted } = turn;
    const question = turn.questions.find(accepted === false ? ({ complaint }) => complaint : wasNotified);
    const result = toValidation(turn);
    if (!question) return result;
    if (this.#delivery.canReach(client)) {
      setImmediate(() => this.#delivery.prompt(client, header, question));
      return result;
    }
    this.#delivery.prompt(client, header, question);
    const params = { sessionId: header.id, prompt: toPrompt(question) };
    return { ...result, next: { state: header.state, method: FLOW_PROMPT, ...params } };
  }

  /** A session in a token does not change without a request. */
  #lookAgain(client: ClientView, { header }: Pick<Turn, 'header'>): JsonObject {
    if (!this.#access.isStored) return {};
    const now = this.#access.sessions.context.clock.now();
    return lookAgain(header, { now, isTold: this.#delivery.canReach(client) });
  }

  #checkTool(tool: string, client: ClientView): void {
    if (this.#access.sessions.flows.has(tool)) return;
    if (this.#options.isPlainTool(tool, client)) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool });
    throw new GatewayError('INVALID_PARAMS', { data: { toolName: tool, error: 'There is no such tool' } });
  }
}

function isCaller({ header }: Pick<Turn, 'header'>, { client }: Exchange): boolean {
  return isOwner(header, client.principal);
}

function referenceOf({ params, client }: Exchange): SessionReference {
  const sessionId = readString(params, 'sessionId');
  return { principal: client.principal, sessionId, token: readOptionalString(params, 'token') };
}

function withToken(result: JsonObject, token: string | undefined): JsonObject {
  return token === undefined ? result : { ...result, token };
}

export function createStoredAccess(sessions: Sessions): SessionAccess {
  return {
    sessions,
    isStored: true,
    start: async (request) => ({ turn: await sessions.start(request) }),
    go: async ({ sessionId }, act) => ({ turn: await act(sessionId, sessions) }),
    getState: ({ principal, sessionId }) => sessions.getState({ principal, sessionId }),
    acknowledge: (sessionId) => sessions.acknowledge(sessionId),
  };
}

/** Only the token knows the tool of a session, so every tool is tried. */
export function createTokenAccess(tokenSessions: TokenSessions): SessionAccess {
  const { sessions } = tokenSessions;
  const bearerOf = (principal: string, tool: string) => ({ principal, tool, method: 'interaction' });
  const opened = async <T>(
    { principal, sessionId, token }: SessionReference,
    open: (tool: string) => Promise<T>,
  ): Promise<T> => {
    const unknown = new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
    if (token === undefined || principal === '') throw unknown;
    for (const tool of sessions.flows.keys()) {
      try {
        return await open(tool);
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        if (thrown.code !== 'FLOW_SESSION_NOT_FOUND') throw inWordsOf(sessionId, thrown);
      }
    }
    throw unknown;
  };
  return {
    sessions,
    isStored: false,
    start: (request) => tokenSessions.start(request, bearerOf(request.principal, request.tool)),
    go: (reference, act) =>
      opened(reference, (tool) =>
        tokenSessions.go(reference.token!, bearerOf(reference.principal, tool), ({ id }, carried) =>
          act(meant(reference, id), carried),
        ),
      ),
    getState: (reference) =>
      opened(reference, async (tool) => {
        const view = await tokenSessions.getState(reference.token!, bearerOf(reference.principal, tool));
        meant(reference, view.header.id);
        return view;
      }),
    acknowledge: (sessionId) => tokenSessions.acknowledge(sessionId),
  };
}

/** A token is valid for its own session only. */
function meant({ sessionId }: SessionReference, id: string): string {
  if (sessionId === id) return id;
  throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
}

/** Errors name the session by the id that the client knows. */
function inWordsOf(sessionId: string, error: GatewayError): GatewayError {
  return new GatewayError(error.code, { ...error.details, sessionId });
}
