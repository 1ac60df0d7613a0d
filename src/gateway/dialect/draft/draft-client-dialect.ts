// Serves clients of the `draft` dialect (docs/eras.md): lists are bare arrays, tools are invoked, and change
// notifications carry the difference. It has no prompts and no reading of resources, and asks its client only the
// questions of interactive tools.
import type { Implementation } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange, Progress } from '../../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from '../../../protocol/message.ts';
import { isObject, toErrorMessage, toNotification, toResult } from '../../../protocol/message.ts';
import { isInteraction } from '../../../protocol/interaction.ts';
import { toPlainObject } from '../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Change, Target } from '../../../protocol/target.ts';
import type { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import type { Conversation } from '../serve/conversation.ts';
import { splitMeta } from '../meta.ts';
import { DRAFT_VERSION } from '../revisions.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';
import type { ClientDialect } from '../serve/client-dialect.ts';
import { toDraftError } from './errors.ts';
import { listDraftEntries } from './list-draft-entries.ts';
import { toInvocation } from './invocation.ts';

export interface DraftClient {
  supportsProgress: boolean;
  supportsCancellation: boolean;
  info: Implementation;
}

const METHODS = new Set(['tools/list', 'tools/invoke', 'resources/list', 'capabilities']);

export class DraftClientDialect implements ClientDialect {
  readonly client: ClientView;
  readonly batches = false;
  readonly primesStreams = false;
  readonly #declared: DraftClient;
  readonly #conversation: Conversation;

  constructor(conversation: Conversation, declared: DraftClient) {
    const { principal, from: connection } = conversation;
    this.client = {
      dialect: 'draft',
      revision: DRAFT_VERSION,
      info: declared.info,
      capabilities: {},
      principal,
      connection,
    };
    this.#declared = declared;
    this.#conversation = conversation;
  }

  welcome(): JsonObject {
    const { target } = this.#conversation.context;
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

  toNeutral(request: RequestMessage): ReturnType<ClientDialect['toNeutral']> {
    const { method } = request;
    if (!METHODS.has(method) && !isInteraction(method)) return undefined;
    const neutral = method === 'tools/invoke' ? { ...request, method: 'tools/call' } : request;
    return { request: neutral, split: splitMeta(request.params) };
  }

  serve(exchange: Exchange, target: Target): unknown {
    if (exchange.method === 'tools/list') return listDraftEntries(exchange, target, 'tools');
    if (exchange.method === 'resources/list') return listDraftEntries(exchange, target, 'resources');
    return target.handle(exchange);
  }

  spell({ method }: Exchange, answer: ResultObject): unknown {
    return method === 'tools/call' ? toInvocation(toPlainObject(answer)) : toPlainObject(answer);
  }

  toError(error: GatewayError | ProtocolError, exchange: ServedExchange): ResponseMessage {
    const { id } = exchange.request;
    const spelled = toDraftError(error, exchange);
    return 'result' in spelled ? toResult(id, spelled.result) : toErrorMessage(id, spelled.error);
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

  toChange(change: Change): NotificationMessage | undefined {
    if (change.kind === 'tools') {
      const { added = [], removed = [] } = change;
      return toNotification('tools/changed', { added: added.map(toAdded), removed });
    }
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

function toAdded(tool: { name: string; description?: string | undefined }): JsonObject {
  return isObject(tool) && tool.description === undefined ? { name: tool.name } : { ...tool };
}
