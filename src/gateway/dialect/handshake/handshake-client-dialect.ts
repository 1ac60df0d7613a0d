// Serves clients of the handshake era, 2024-11-05 to 2025-11-25. It never writes `resultType`, `requestState`,
// `inputRequests`, cache hints or error codes of the stateless era.
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from '../../../protocol/message.ts';
import { isObject, toErrorMessage, toNotification, toResult } from '../../../protocol/message.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Change, Target } from '../../../protocol/target.ts';
import { TASK_METHODS } from '../../../protocol/methods.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { ProtocolError } from '../../../shared/errors.ts';
import { missingCapability } from '../ask.ts';
import type { Conversation } from '../serve/conversation.ts';
import { isLogLevel, writeLog } from '../log-level.ts';
import { META, splitMeta } from '../meta.ts';
import { writeProgress } from '../progress.ts';
import { NEWEST_HANDSHAKE, featuresOf } from '../revisions.ts';
import type { Features } from '../revisions.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';
import type { ClientDialect } from '../serve/client-dialect.ts';
import { toHandshakeCapabilities } from './capabilities.ts';
import { toHandshakeError } from './errors.ts';
import { toOlderAsk } from './older-asks.ts';
import type { OlderAsk } from './older-asks.ts';
import { toTask, toHandshakeResult } from './results.ts';

/** Methods of other dialects. */
const FOREIGN = new Set(['tools/invoke', 'shutdown', 'server/discover', 'subscriptions/listen', 'tasks/update']);

export class HandshakeClientDialect implements ClientDialect {
  readonly client: ClientView;
  readonly batches: boolean;
  readonly primesStreams: boolean;
  readonly #features: Features;
  readonly #conversation: Conversation;

  constructor(conversation: Conversation, client: ClientView) {
    this.client = client;
    this.#conversation = conversation;
    this.#features = featuresOf(client.revision);
    this.batches = this.#features.batches;
    this.primesStreams = this.#features.primedStreams;
  }

  /** For the few methods that are served before `initialize`. */
  static preliminary(conversation: Conversation): HandshakeClientDialect {
    const info = { name: 'unknown', version: '0' };
    const { principal } = conversation;
    return new HandshakeClientDialect(conversation, {
      dialect: 'handshake',
      revision: NEWEST_HANDSHAKE,
      info,
      capabilities: {},
      principal,
    });
  }

  /** The result of `initialize`. */
  welcome(): JsonObject {
    const { target } = this.#conversation.context;
    const { instructions } = target;
    return {
      protocolVersion: this.client.revision,
      capabilities: toHandshakeCapabilities(target.capabilities(this.client), this.#features),
      serverInfo: toServerInfo(target.info, this.#features),
      ...(instructions !== undefined && { instructions }),
      ...target.greeting?.(this.client),
    };
  }

  toNeutral(request: RequestMessage): ReturnType<ClientDialect['toNeutral']> {
    const { method } = request;
    if (FOREIGN.has(method) || (TASK_METHODS.has(method) && !this.#features.tasks)) return undefined;
    const split = splitMeta(request.params);
    if (method !== 'tools/call' || !isObject(split.params.task)) return { request, split };
    const { task, ...params } = split.params;
    if (!this.#features.tasks) return { request, split: { ...split, params } };
    const { ttl } = task as { ttl?: unknown };
    return {
      request,
      split: { ...split, params },
      task: { ttl: typeof ttl === 'number' ? ttl : undefined, requested: true },
    };
  }

  serve(exchange: Exchange, target: Target): unknown {
    if (exchange.method === 'resources/subscribe') this.#checkRoom();
    return exchange.method === 'logging/setLevel' ? this.#setLevel(exchange, target) : target.handle(exchange);
  }

  spell({ method, params }: Exchange, answer: ResultObject): unknown {
    if (method === 'resources/subscribe') this.#conversation.subscribe(params.uri as string);
    else if (method === 'resources/unsubscribe') this.#conversation.unsubscribe(params.uri as string);
    return toHandshakeResult(method, answer, this.#features);
  }

  toError(error: GatewayError | ProtocolError, exchange: ServedExchange): ResponseMessage {
    const { id } = exchange.request;
    const spelled = toHandshakeError(error, exchange, this.#features);
    return 'result' in spelled ? toResult(id, spelled.result) : toErrorMessage(id, spelled.error);
  }

  /** A cancelled request is not answered. */
  toCancelled(): undefined {}

  cancelledId(notification: NotificationMessage): unknown {
    return notification.method === 'notifications/cancelled' ? notification.params?.requestId : undefined;
  }

  toChange(change: Change, isSubscribed: (uri: string) => boolean): NotificationMessage | undefined {
    switch (change.kind) {
      case 'resource':
        if (!change.isDirect && !isSubscribed(change.uri)) return undefined;
        return toNotification('notifications/resources/updated', { uri: change.uri, ...change.more });
      case 'task':
        return this.#features.tasks ? toNotification('notifications/tasks/status', toTask(change.task)) : undefined;
      case 'elicited':
        if (!this.#features.urlElicitation) return undefined;
        return toNotification('notifications/elicitation/complete', {
          elicitationId: change.elicitationId,
          ...change.more,
        });
      case 'log':
        return this.toLog(change.entry);
      case 'tools':
      case 'prompts':
      case 'resources':
        return toNotification(`notifications/${change.kind}/list_changed`, change.more);
      case 'notification':
        return toNotification(change.method, change.params);
    }
  }

  toProgress(progress: Progress, exchange: ServedExchange): NotificationMessage | undefined {
    const { progressToken } = exchange;
    if (progressToken === undefined) return undefined;
    const { message: _, ...older } = progress;
    return writeProgress(progressToken, this.#features.progressMessage ? progress : older);
  }

  toLog(entry: LogEntry): NotificationMessage {
    return writeLog(entry);
  }

  canAsk(ask: Ask): boolean {
    if (ask.method === 'elicitation/create' && !this.#features.elicitation) return false;
    if (ask.params?.mode === 'url' && !this.#features.urlElicitation) return false;
    return missingCapability(ask, this.client.capabilities) === undefined;
  }

  toAsk(ask: Ask): OlderAsk {
    const { choiceForms, samplingTools } = this.#features;
    // The newest revision asks in the neutral form, except for an address, which has an id there.
    const isNeutral = choiceForms && samplingTools && ask.params !== undefined && ask.params.mode !== 'url';
    const spelled: OlderAsk = isNeutral ? { method: ask.method, params: ask.params! } : toOlderAsk(ask, this.#features);
    if (ask.key === undefined && !ask.human) return spelled;
    const { params } = spelled;
    const own = { ...(ask.key !== undefined && { [META.key]: ask.key }), ...(ask.human && { [META.human]: true }) };
    return { ...spelled, params: { ...params, _meta: { ...(params?._meta as JsonObject), ...own } } };
  }

  #setLevel(exchange: Exchange, target: Target): JsonObject | Promise<JsonObject> {
    if (!target.capabilities(this.client).logging) {
      throw new GatewayError('METHOD_NOT_FOUND', { method: exchange.method });
    }
    const { level } = exchange.params;
    const told = target.setLevel?.(level, this.client);
    return told ? told.then(() => this.#choose(level)) : this.#choose(level);
  }

  #choose(level: unknown): JsonObject {
    if (!isLogLevel(level)) {
      const error = level === undefined ? 'Required parameter missing' : 'Unknown log level';
      throw new GatewayError('INVALID_PARAMS', { parameter: 'level', error });
    }
    this.#conversation.setLevel(level);
    return {};
  }

  #checkRoom(): void {
    const { subscriptions, context } = this.#conversation;
    if (subscriptions.size < context.limits.maxSubscriptions) return;
    throw new GatewayError('TOO_MANY', { what: 'subscriptions', limit: 'maxSubscriptions' });
  }
}

/** Icons, description and website came with 2025-11-25, the title with 2025-06-18. */
function toServerInfo(info: JsonObject, features: Features): JsonObject {
  if (features.icons) return info;
  const { icons, description, websiteUrl, title, ...rest } = info;
  return features.structured && title !== undefined ? { ...rest, title } : rest;
}
