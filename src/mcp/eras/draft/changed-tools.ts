// Tells a draft client which tools were added and removed, as far as it may see them.
// 1. A server's word about its tools is checked against the list that this client would get now: a tool that is denied, hidden or held
//    back is not announced, nor is a name under which the client has not seen anything.
// 2. Servers that do not say what has changed, which is all of MCP, are compared with the list that the client was shown last.
import { toNotification } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { Change } from '../../../kernel/target.ts';

type ToolsChange = Extract<Change, { kind: 'tools' }>;

export class ChangedTools {
  readonly #list: () => Promise<JsonObject[]>;
  /** What the client was shown last. */
  #shown: Map<string, JsonObject> | undefined;
  /** One change after the other, in their order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(list: () => Promise<JsonObject[]>) {
    this.#list = list;
  }

  shown(tools: readonly JsonObject[]): void {
    this.#shown = byName(tools);
  }

  toNotification(change: ToolsChange): NotificationMessage | Promise<NotificationMessage> {
    const { added, removed, isClaimed } = change;
    if (!isClaimed && (added ?? removed)) return toMessage(added, removed);
    const told = this.#last.then(() => this.#checked(change));
    this.#last = told;
    return told;
  }

  async #checked({ added, removed }: ToolsChange): Promise<NotificationMessage> {
    const before = this.#shown;
    const tools = await this.#list().catch(() => undefined); // the client will list them, and learn why
    if (!tools) return toMessage();
    const now = byName(tools);
    if (before) this.#shown = now;
    if (added ?? removed) {
      const isSeen = (name: string): boolean => !before || before.has(name) || now.has(name);
      return toMessage(
        added?.flatMap(({ name }) => (now.has(name) ? [now.get(name)!] : [])),
        removed?.filter(isSeen),
      );
    }
    if (!before) return toMessage();
    return toMessage(
      tools.filter(({ name }) => !before.has(String(name))),
      [...before.keys()].filter((name) => !now.has(name)),
    );
  }
}

function byName(tools: readonly JsonObject[]): Map<string, JsonObject> {
  return new Map(tools.map((tool) => [String(tool.name), tool]));
}

function toMessage(added: readonly JsonObject[] = [], removed: readonly string[] = []): NotificationMessage {
  return toNotification('tools/changed', { added: added.map(toAdded), removed });
}

function toAdded({ name, description }: JsonObject): JsonObject {
  return description === undefined ? { name } : { name, description };
}
