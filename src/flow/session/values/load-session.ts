// Loads a session for a request. A session of another owner looks unknown, an expired one is ended first, and one that is being ended looks
// ended.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { AnyFlow } from '../../define.ts';
import { toClientHeader, isEnded, hasOverdue } from '../../header.ts';
import type { Header, JournalEntry } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import type { SessionContext } from '../context/session-context.ts';
import { openSealedArgs } from './stored-args.ts';

type Attend = (sessionId: string) => Promise<void>;

export interface LoadRequest {
  sessionId: string;
  mayHave: (stored: StoredSession) => boolean;
}

export async function loadSession(
  context: SessionContext,
  request: LoadRequest,
  attend: Attend,
): Promise<StoredSession> {
  const { sessionId, mayHave } = request;
  const stored = await context.store.load(sessionId);
  if (!stored || !mayHave(stored)) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
  const whole = openSealedArgs(context, stored);
  const header = toClientHeader(whole.header);
  if (isOverdue(header, context.clock.now())) {
    await attend(sessionId);
    return loadSession(context, request, attend);
  }
  if (header.reason === 'expired') throw new GatewayError('FLOW_SESSION_EXPIRED', { sessionId });
  return header === whole.header ? whole : { ...whole, header };
}

/** A session as it was read, with its sealed arguments opened and its keys as the served version has them. */
export function openStored(context: SessionContext, stored: StoredSession, flow: AnyFlow | undefined): StoredSession {
  return migrateJournal(openSealedArgs(context, stored), flow);
}

/** The session, or a question of it, has timed out and must be handled first. */
function isOverdue(header: Header, now: number): boolean {
  if (isEnded(header)) return false;
  return header.expiresAt <= now || (!header.parked && hasOverdue(header, now));
}

/** Applies the `migrate` option of the flow: renames keys, and removes dropped effects. */
export function migrateJournal(stored: StoredSession, flow: AnyFlow | undefined): StoredSession {
  if (!flow?.options.migrate) return stored;
  const { renamed = {}, dropped = [] } = flow.options.migrate;
  if (dropped.length === 0 && Object.keys(renamed).length === 0) return stored;
  const entries = stored.entries
    .filter((entry) => !((entry.t === 'int' || entry.t === 'step') && isDropped(entry.k, dropped)))
    .map((entry) => ('k' in entry ? rename(entry, renamed) : entry));
  return { ...stored, entries };
}

function rename<E extends Extract<JournalEntry, { k: string }>>(
  entry: E,
  renamed: Readonly<Record<string, string>>,
): E {
  const { scope, name, turn } = splitKey(entry.k);
  const path = `${scope}${name}`;
  if (Object.hasOwn(renamed, path)) return { ...entry, k: `${renamed[path]!}${turn}` };
  return Object.hasOwn(renamed, name) ? { ...entry, k: `${scope}${renamed[name]!}${turn}` } : entry;
}

function isDropped(key: string, dropped: readonly string[]): boolean {
  const { scope, name } = splitKey(key);
  return dropped.includes(name) || dropped.includes(`${scope}${name}`);
}

/** `item.charge#2` is the second `charge` in the scope `item`. */
function splitKey(key: string): { scope: string; name: string; turn: string } {
  const at = key.indexOf('#');
  const [path, turn] = at < 0 ? [key, ''] : [key.slice(0, at), key.slice(at)];
  const dot = path.lastIndexOf('.') + 1;
  return { scope: path.slice(0, dot), name: path.slice(dot), turn };
}
