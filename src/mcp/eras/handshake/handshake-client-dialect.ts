// Serves clients of the handshake era, 2024-11-05 to 2025-11-25. It never writes `resultType`, `requestState`,
// `inputRequests`, cache hints or error codes of the stateless era.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../../../kernel/exchange.ts';
import { isObject, toNotification, MISSING, toInvalid } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestMessage, WireError } from '../../../kernel/message.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Change, Target } from '../../../kernel/target.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { missingCapability } from '../ask.ts';
import { META, splitMeta } from '../meta.ts';
import type { MethodRegistry } from '../methods.ts';
import { isLogLevel, writeLog, writeProgress } from '../notifications.ts';
import { plainError, toWire } from '../plain-error.ts';
import { isMissing, methodsOf } from '../revisions.ts';
import { featuresOf } from './features.ts';
import type { Features } from './features.ts';
import type { ClientSession, ErrorAnswer, NeutralRequest, SessionDialect } from '../serve/client-dialect.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';
import { toOlderAsk } from './older-asks.ts';
import type { OlderAsk } from './older-asks.ts';
import { toTask, toHandshakeResult } from './results.ts';

export class HandshakeClientDialect implements SessionDialect {
  readonly client: ClientView;
  readonly batches: boolean;
  readonly primesStreams: boolean;
  readonly namesVersions = true;
  readonly reportsAllProgress = false;
  readonly #features: Features;
  readonly #methods: MethodRegistry;
  readonly #session: ClientSession;

  constructor(session: ClientSession, client: ClientView) {
    this.client = client;
    this.#session = session;
    this.#features = featuresOf(client.revision);
    this.#methods = methodsOf(client.revision);
    this.batches = this.#features.batches;
    this.primesStreams = this.#features.primedStreams;
  }

  welcome(): JsonObject {
    const { target } = this.#session.context;
    const { instructions } = target;
    return {
      protocolVersion: this.client.revision,
      capabilities: toHandshakeCapabilities(target.capabilities(this.client), this.#features),
      serverInfo: toServerInfo(target.info, this.#features),
      ...(instructions !== undefined && { instructions }),
      ...target.greeting?.(this.client),
    };
  }

  toNeutral(request: RequestMessage): NeutralRequest | undefined {
    const { method } = request;
    if (isMissing(method, this.#methods)) return undefined;
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

  encode({ method, params }: Exchange, answer: ResultObject): unknown {
    if (method === 'resources/subscribe') this.#session.subscribe(params.uri as string);
    else if (method === 'resources/unsubscribe') this.#session.unsubscribe(params.uri as string);
    return toHandshakeResult(method, answer, this.#features);
  }

  toError(error: GatewayError | ProtocolError, exchange: ServedExchange): ErrorAnswer {
    return toHandshakeError(error, exchange, this.#features);
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
    const encoded = toOlderAsk(ask, this.#features);
    if (ask.key === undefined && !ask.human) return encoded;
    const { params } = encoded;
    const own = { ...(ask.key !== undefined && { [META.key]: ask.key }), ...(ask.human && { [META.human]: true }) };
    return { ...encoded, params: { ...params, _meta: { ...(params?._meta as JsonObject), ...own } } };
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
      throw toInvalid('level', level === undefined ? MISSING : 'Unknown log level');
    }
    this.#session.setLevel(level);
    return {};
  }

  #checkRoom(): void {
    const { subscriptions, context } = this.#session;
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

/** A key is present exactly if the area is supported. */
function toHandshakeCapabilities(capabilities: ServerCapabilities, features: Features): JsonObject {
  const { tasks, completions, extensions, ...rest } = capabilities as JsonObject;
  return {
    ...rest,
    ...(features.completionsFlag && completions !== undefined && { completions }),
    ...(features.tasks && tasks !== undefined && { tasks }),
    ...withoutTasksExtension(extensions as JsonObject | undefined),
  };
}

/** MCP Apps and others use `extensions` here too; the tasks extension does not exist before the stateless era. */
function withoutTasksExtension(extensions: JsonObject | undefined): JsonObject {
  if (!extensions) return {};
  const { [TASKS_EXTENSION]: tasks, ...others } = extensions;
  return Object.keys(others).length > 0 ? { extensions: others } : {};
}

/**
 * 2025-03-26 uses the codes of the mcp-chain reference, every other revision the official ones. From 2025-11-25 on, bad
 * arguments are a result that the model can read and correct.
 */
export function toHandshakeError(
  error: GatewayError | ProtocolError,
  exchange: ServedExchange,
  features: Features,
): ErrorAnswer {
  if (error instanceof ProtocolError) return { error: plainError(error) };
  const { code, details } = error;
  if (code === 'INVALID_ARGUMENTS') {
    if (features.argumentErrorsInResults) return asResult(error.message);
    return { error: toWire(-32602, 'Invalid params', { parameter: details.parameter, error: details.error }) };
  }
  if (code === 'CLIENT_CANNOT_BE_ASKED') {
    const { requiredCapabilities: required, origin } = details;
    const message = origin instanceof ProtocolError ? origin.message : error.message;
    if (exchange.method === 'tools/call') return asResult(message, required && { [META.required]: required });
    return { error: toWire(-32603, message, required && { requiredCapabilities: required }) };
  }
  const { origin } = details;
  const wire = features.chainCodes ? chainError(error) : undefined;
  if (wire && !(origin instanceof ProtocolError && origin.code === wire.code)) return { error: wire };
  // Servers use several codes for "not found", and this era allows all of them.
  if (origin instanceof ProtocolError) return { error: plainError(origin) };
  const resource = code === 'RESOURCE_NOT_FOUND';
  return {
    error: resource ? toWire(-32002, 'Resource not found', { uri: details.uri }) : plainError(error, exchange.id),
  };
}

function asResult(text: string, meta?: unknown): ErrorAnswer {
  const result = { content: [{ type: 'text', text }], isError: true };
  return { result: isObject(meta) ? { ...result, _meta: meta } : result };
}

function chainError({ code, details }: GatewayError): WireError | undefined {
  switch (code) {
    case 'TOOL_NOT_FOUND':
      return toWire(-32001, 'Tool not found', `Tool '${String(details.name)}' does not exist`);
    case 'RESOURCE_NOT_FOUND':
      return toWire(-32002, 'Resource not found', `Resource '${String(details.uri)}' does not exist`);
    case 'PROMPT_NOT_FOUND':
      return toWire(-32003, 'Prompt not found', `Prompt '${String(details.name)}' does not exist`);
    case 'TOOL_UNREACHABLE':
      return toWire(-32004, 'Tool execution failed', details.reason);
    case 'ACCESS_DENIED':
      return toWire(-32005, 'Resource access denied', `Access to '${String(details.uri)}' is denied`);
    default:
      return undefined;
  }
}
