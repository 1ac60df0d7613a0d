// One request of a conversation. The conversation's dialect encodes everything it sends.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Ask, ClientView, LogEntry, Progress } from '../../../protocol/exchange.ts';
import type { JsonObject, Message } from '../../../protocol/message.ts';
import type { Conversation } from './conversation.ts';
import { isAtLeast } from '../log-level.ts';
import type { Outlet } from './outlet.ts';
import { ServedExchange } from './served-exchange.ts';

export class ConversationExchange extends ServedExchange {
  conversation!: Conversation;

  /** Draft clients declare it once. */
  override get wantsProgress(): boolean {
    return super.wantsProgress || this.client.dialect === 'draft';
  }

  progress(progress: Progress): void {
    this.tell(this.conversation.dialect?.toProgress(progress, this));
  }

  log(entry: LogEntry): void {
    if (isAtLeast(entry.level, this.conversation.logLevel)) this.tell(this.conversation.dialect?.toLog(entry));
  }

  get logLevel(): LoggingLevel | undefined {
    return this.conversation.chosenLevel;
  }

  canAsk(ask: Ask): boolean {
    return this.conversation.dialect?.canAsk(ask) ?? false;
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.conversation.putAsk(ask, this, signal);
  }
}

/** An exchange for messages that belong to no request; it sends on the back channel. */
export function unrelatedExchange(
  conversation: Conversation,
  client: ClientView,
  back: Pick<Outlet, 'send'>,
): ConversationExchange {
  const outlet = { send: (message: Message) => back.send(message), end: () => {}, release: () => {} };
  const split = { params: {}, progressToken: undefined, trace: undefined };
  const exchange = new ConversationExchange({ jsonrpc: '2.0', id: '', method: '' }, split, client, outlet);
  exchange.conversation = conversation;
  return exchange;
}
