// Serves clients of the `draft` dialect (docs/eras.md): lists are bare arrays, tools are invoked, and change
// notifications carry the difference. It has no prompts and no reading of resources, and asks its client only the
// questions of interactive tools.
import type { Implementation } from '@modelcontextprotocol/client';
import { deriveExchange } from '../../../kernel/derived-exchange.ts';
import type { Ask, ClientView, Exchange, Progress } from '../../../kernel/exchange.ts';
import { isInteraction } from '../../../kernel/interaction.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { toNotification, toResult } from '../../../kernel/message.ts';
import type {
  JsonObject,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from '../../../kernel/message.ts';
import { pages } from '../../../kernel/pages.ts';
import { toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Change, Target } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { ProtocolError } from '../../../kernel/base/errors.ts';
import { toHandshakeEntry } from '../handshake/results.ts';
import { splitMeta } from '../meta.ts';
import { plainError, toWire } from '../plain-error.ts';
import { featuresOf } from '../handshake/features.ts';
import type { ClientSession, ErrorAnswer, NeutralRequest, SessionDialect } from '../serve/client-dialect.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';
import { DRAFT, DRAFT_VERSION } from './revisions.ts';
import { ChangedTools } from './changed-tools.ts';
import { toInvocation } from './invocation.ts';

interface DraftClient {
  supportsProgress: boolean;
  supportsCancellation: boolean;
  info: Implementation;
}

export class DraftClientDialect implements SessionDialect {
  readonly client: ClientView;
  readonly batches = false;
  readonly primesStreams = false;
  readonly namesVersions = false;
  /** A client declares it once. */
  readonly reportsAllProgress = true;
  readonly #declared: DraftClient;
  readonly #session: ClientSession;
  readonly #changedTools: ChangedTools;

  constructor(session: ClientSession, declared: DraftClient) {
    const { principal, from: connection } = session;
    this.client = {
      dialect: DRAFT.dialect,
      era: DRAFT.era,
      revision: DRAFT_VERSION,
      info: declared.info,
      capabilities: {},
      principal,
      connection,
    };
    this.#declared = declared;
    this.#session = session;
    this.#changedTools = new ChangedTools(() => {
      const exchange = new InternalExchange('tools/list', {}, this.client);
      return listDraftEntries(exchange, session.context.target, 'tools');
    });
  }

  welcome(): JsonObject {
    const { target } = this.#session.context;
    const { tools, resources } = target.capabilities(this.client);
    const { name, version } = target.info;
    return {
      server: { name, version },
      serverCapabilities: {
        supportsToolDiscovery: tools !== undefined,
        supportsResourceDiscovery: resources !== undefined,
        supportsNotifications: true,
      },
    };
  }

  control({ method, params = {} }: RequestMessage): { result: unknown } | undefined {
    switch (method) {
      case 'shutdown':
        this.#session.shutDown();
        return { result: null };
      case 'cancel':
        this.#cancel({ jsonrpc: '2.0', method, params });
        return { result: { cancelled: true } };
      default:
        return undefined;
    }
  }

  controlled({ method }: NotificationMessage): boolean {
    if (method !== 'exit') return false;
    this.#session.exit();
    return true;
  }

  #cancel(notification: NotificationMessage): void {
    const id = this.cancelledId(notification);
    if (id !== undefined) this.#session.callOff(id as RequestId, notification);
  }

  toNeutral(request: RequestMessage): NeutralRequest | undefined {
    const { method } = request;
    if (!DRAFT.methods.has(method) && !isInteraction(method)) return undefined;
    const neutral = method === 'tools/invoke' ? { ...request, method: 'tools/call' } : request;
    return { request: neutral, split: splitMeta(request.params) };
  }

  serve(exchange: Exchange, target: Target): unknown {
    if (exchange.method === 'tools/list') return this.#listTools(exchange, target);
    if (exchange.method === 'resources/list') return listDraftEntries(exchange, target, 'resources');
    return target.handle(exchange);
  }

  async #listTools(exchange: Exchange, target: Target): Promise<JsonObject[]> {
    const tools = await listDraftEntries(exchange, target, 'tools');
    this.#changedTools.shown(tools);
    return tools;
  }

  encode({ method }: Exchange, answer: ResultObject): unknown {
    return method === 'tools/call' ? toInvocation(toPlainObject(answer)) : toPlainObject(answer);
  }

  /** A missing argument is 4001 without data, an unknown tool is -32001. */
  toError(error: GatewayError | ProtocolError, exchange: ServedExchange): ErrorAnswer {
    if (!(error instanceof GatewayError)) return { error: plainError(error) };
    const { code, details } = error;
    switch (code) {
      case 'INVALID_ARGUMENTS': {
        const parameter = String(details.parameter);
        if (details.missing) return { error: toWire(4001, `Missing required parameter '${parameter}'`) };
        return { error: toWire(-32602, 'Invalid params', { parameter, error: details.error }) };
      }
      case 'TOOL_NOT_FOUND':
        return { error: toWire(-32001, 'Tool not found', `Tool '${String(details.name)}' does not exist`) };
      case 'CLIENT_CANNOT_BE_ASKED':
        return { result: { status: 'error', output: { message: error.message } } };
      default:
        return { error: plainError(error, exchange.id) };
    }
  }

  /** The acknowledgement of a cancellation is the answer of the cancelled request. */
  toCancelled(exchange: ServedExchange): ResponseMessage {
    return toResult(exchange.request.id, { status: 'cancelled' });
  }

  cancelledId(notification: NotificationMessage): unknown {
    if (!this.#declared.supportsCancellation) return undefined;
    if (notification.method === 'cancel') return notification.params?.id;
    return notification.method === 'notifications/cancelled' ? notification.params?.requestId : undefined;
  }

  toChange(change: Change): NotificationMessage | Promise<NotificationMessage> | undefined {
    if (change.kind === 'tools') return this.#changedTools.toNotification(change);
    if (change.kind === 'resource')
      return toNotification('resources/changed', { updated: [change.name ?? change.uri] });
    return undefined;
  }

  toProgress({ progress, total, message }: Progress, exchange: ServedExchange): NotificationMessage | undefined {
    if (!this.#declared.supportsProgress) return undefined;
    const percent = Math.round(total ? (100 * progress) / total : progress);
    return toNotification('progress', { id: exchange.request.id, percent, ...(message !== undefined && { message }) });
  }

  toLog(): undefined {}

  /** The dialect has only the questions of interactive tools. */
  canAsk({ method }: Ask): boolean {
    return isInteraction(method);
  }

  toAsk({ method, params }: Ask): { method: string; params?: JsonObject } {
    return { method, ...(params && { params }) };
  }
}

/** Reads all pages of a list, because the dialect's bare arrays have no cursor. */
async function listDraftEntries(exchange: Exchange, target: Target, key: string): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  const fetch = async (page: JsonObject) =>
    toPlainObject(await target.handle(deriveExchange(exchange, { params: { ...exchange.params, ...page } })));
  for await (const page of pages({ key, fetch })) entries.push(...(page[key] as JsonObject[]));
  return entries.map((entry) => toHandshakeEntry(entry, featuresOf(DRAFT_VERSION)));
}
