// Finds sessions in a store of any size: it is read a page at a time, and no more is kept than is wanted.
import type { Header } from '../journal.ts';
import { toOwner } from '../session/setup.ts';
import type { FlowStore, Listed } from '../store/store.ts';
import { SCHEME } from '../short-id.ts';
import { conditionOf } from './condition.ts';
import type { Condition } from './condition.ts';
import { listedOne } from './hand-over.ts';

export interface Filter {
  conditions?: ReadonlySet<Condition> | undefined;
  flow?: string | undefined;
  /** A name, or what a store has in its place. */
  principal?: string | undefined;
  /** Started before this moment, and after this one. */
  before?: number | undefined;
  after?: number | undefined;
}

export interface Found {
  /** Those that were active last come first. */
  sessions: Listed[];
  /** How many fit the filter, and how many there are. */
  fitting: number;
  all: number;
}

/** So many are named where a beginning of an id fits several. */
const MAX_NAMED = 5;

export async function findSessions(store: FlowStore, filter: Filter, limit: number): Promise<Found> {
  const owner = filter.principal === undefined ? undefined : new Set([filter.principal, toOwner(filter.principal)]);
  const found: Found = { sessions: [], fitting: 0, all: 0 };
  for await (const page of store.browse?.() ?? []) {
    found.all += page.length;
    const fitting = page.filter(({ header }) => fits(header, filter, owner));
    found.fitting += fitting.length;
    found.sessions = newest([...found.sessions, ...fitting], limit);
  }
  return found;
}

/** All that fit, one page after the other. */
export async function* eachSession(store: FlowStore, filter: Filter): AsyncGenerator<Listed> {
  const owner = filter.principal === undefined ? undefined : new Set([filter.principal, toOwner(filter.principal)]);
  for await (const page of store.browse?.() ?? []) {
    for (const one of page) if (fits(one.header, filter, owner)) yield one;
  }
}

/** The session with this id, or the ids of those that begin with it. */
export async function findSession(store: FlowStore, given: string): Promise<Listed | string[]> {
  const id = given.startsWith(SCHEME) ? given : `${SCHEME}${given}`;
  const exact = await listedOne({ store }, id);
  if (exact) return exact;
  const found = new Map<string, Listed>();
  for await (const page of store.browse?.() ?? []) {
    for (const one of page) if (one.header.id.startsWith(id)) found.set(one.header.id, one);
    if (found.size > MAX_NAMED) break;
  }
  const [only] = found.values();
  return only && found.size === 1 ? only : [...found.keys()];
}

function fits(header: Header, filter: Filter, owner: ReadonlySet<string> | undefined): boolean {
  const { conditions, flow, before = Infinity, after = -Infinity } = filter;
  if (conditions && !conditions.has(conditionOf(header))) return false;
  if (flow !== undefined && header.tool !== flow) return false;
  if (owner && !owner.has(header.principal)) return false;
  return header.createdAt <= before && header.createdAt >= after;
}

/** One that has ended while it was looked for may have been seen twice. */
function newest(sessions: Listed[], limit: number): Listed[] {
  const once = new Map(sessions.map((one) => [one.header.id, one]));
  return [...once.values()].sort((a, b) => b.header.lastActivityAt - a.header.lastActivityAt).slice(0, limit);
}
