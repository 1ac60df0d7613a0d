// Finds sessions in a store of any size. It reads page by page and keeps only the requested number.
import type { Header } from '../journal.ts';
import { isOwner, conditionOf } from '../header.ts';
import type { ListedSession, SessionStore } from '../store/store.ts';
import { SESSION_PREFIX } from '../session-id.ts';
import type { Condition } from '../header.ts';
import { findListed } from './leave-request.ts';

export interface SessionFilter {
  conditions?: ReadonlySet<Condition> | undefined;
  flow?: string | undefined;
  /** A name, or its hash as in the store. */
  principal?: string | undefined;
  /** Started before this time, and after this one. */
  before?: number | undefined;
  after?: number | undefined;
}

interface FoundSessions {
  /** Most recently active first. */
  sessions: ListedSession[];
  /** How many match the filter, and how many there are. */
  fitting: number;
  all: number;
}

/** How many are listed if the beginning of an id matches several. */
const MAX_NAMED = 5;

export async function findSessions(
  store: Pick<SessionStore, 'browse'>,
  filter: SessionFilter,
  limit: number,
): Promise<FoundSessions> {
  const found: FoundSessions = { sessions: [], fitting: 0, all: 0 };
  for await (const page of store.browse?.() ?? []) {
    found.all += page.length;
    const fitting = page.filter(({ header }) => fits(header, filter));
    found.fitting += fitting.length;
    found.sessions = newest([...found.sessions, ...fitting], limit);
  }
  return found;
}

/** All sessions that match. */
export async function* eachSession(store: SessionStore, filter: SessionFilter): AsyncGenerator<ListedSession> {
  for await (const page of store.browse?.() ?? []) {
    for (const one of page) if (fits(one.header, filter)) yield one;
  }
}

/** The session with this id, or the ids that begin with it. */
export async function findSession(
  store: Pick<SessionStore, 'browse'>,
  given: string,
): Promise<ListedSession | string[]> {
  const id = given.startsWith(SESSION_PREFIX) ? given : `${SESSION_PREFIX}${given}`;
  const exact = await findListed({ store }, id);
  if (exact) return exact;
  const found = new Map<string, ListedSession>();
  for await (const page of store.browse?.() ?? []) {
    for (const one of page) if (one.header.id.startsWith(id)) found.set(one.header.id, one);
    if (found.size > MAX_NAMED) break;
  }
  const [only] = found.values();
  return only && found.size === 1 ? only : [...found.keys()];
}

function fits(header: Header, filter: SessionFilter): boolean {
  const { conditions, flow, principal, before = Infinity, after = -Infinity } = filter;
  if (conditions && !conditions.has(conditionOf(header))) return false;
  if (flow !== undefined && header.tool !== flow) return false;
  if (principal !== undefined && header.principal !== principal && !isOwner(header, principal)) return false;
  return header.createdAt <= before && header.createdAt >= after;
}

/** A session that ended meanwhile may appear twice. */
function newest(sessions: ListedSession[], limit: number): ListedSession[] {
  const once = new Map(sessions.map((one) => [one.header.id, one]));
  return [...once.values()].sort((a, b) => b.header.lastActivityAt - a.header.lastActivityAt).slice(0, limit);
}
