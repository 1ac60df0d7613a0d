// What later processes, or other gateways, need to know of the handshake sessions of HTTP clients. Official clients never initialize twice, so a
// session that goes on elsewhere begins there with the parameters of its `initialize`. Its open requests and streams are not kept.
// 1. A session is in use at one place only: who takes it over has it alone.
// 2. A session that has ended is never taken over.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../kernel/message.ts';
import type { SettingChange } from '../../eras/serve/conversation.ts';

export interface SessionRecord {
  /** Says who may use the session, and where. */
  readonly binding: string;
  /** The parameters of `initialize`. */
  readonly opening: JsonObject;
  /** What the client has set since. */
  level?: LoggingLevel | undefined;
  subscriptions: Set<string>;
}

/** `isUnsettled`: nothing is kept of it, but the state may have lost it, and the node that has it writes it again within seconds. */
export type TakenSession = SessionRecord | { readonly owner: string } | { readonly isUnsettled: true } | undefined;

export interface HttpSessionStore {
  /** A new id. */
  name(): string;
  begin(id: string, record: SessionRecord): void | Promise<void>;
  change(id: string, change: SettingChange): void;
  /** The session was deleted or has expired. Rejects if it could still be taken over. */
  end(id: string): void | Promise<void>;
  /** Whether no other gateway can have taken over sessions of ours. */
  readonly isSure: boolean;
  /** Whether a session that is live here is still ours. */
  isOurs(id: string): Promise<boolean>;
  /** A session that is in use nowhere, which is now ours, or who has it; undefined for every other id, and where the binding differs. */
  takeOver(id: string, binding: string): TakenSession | Promise<TakenSession>;
  /** Gives sessions away: the next one who wants them can take them over. */
  release(ids: Iterable<string>): void | Promise<void>;
  /** Calls back when another gateway has taken over a session of ours. */
  onLost?(lost: (id: string) => void): void;
  /** Another gateway can take over at once what is released. */
  readonly isShared?: boolean;
  close(): void;
}

/** The subscriptions kept for one session, and the length of each; the rest is lost with the process. */
const MAX_SUBSCRIPTIONS = 100;
const MAX_URI_CHARS = 2000;
/** The longest parameters of `initialize` that are kept, as JSON. */
const MAX_OPENING_CHARS = 4000;

/** Whether the session is kept; if not, it ends with its process. */
export function isKept({ opening }: SessionRecord): boolean {
  return JSON.stringify(opening).length <= MAX_OPENING_CHARS;
}

/** Changes the record. False for a change that is not kept or changes nothing. */
export function applySetting(record: SessionRecord, change: SettingChange): boolean {
  const { subscriptions } = record;
  if ('level' in change) {
    if (record.level === change.level) return false;
    record.level = change.level;
    return true;
  }
  if ('unsubscribe' in change) return subscriptions.delete(change.unsubscribe);
  if (subscriptions.has(change.subscribe)) return false;
  if (change.subscribe.length > MAX_URI_CHARS || subscriptions.size >= MAX_SUBSCRIPTIONS) return false;
  subscriptions.add(change.subscribe);
  return true;
}
