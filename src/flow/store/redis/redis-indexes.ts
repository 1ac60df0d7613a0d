// Queries over all sessions: which are due, which belong to a principal. They read in pages, so they are not a snapshot, but each session is
// read consistently.
import type { Cluster, Redis } from 'ioredis';
import type { Header } from '../../journal.ts';
import type { RedisConnection } from './redis-connection.ts';
import { parseHeader } from './redis-fields.ts';
import type { RedisKeys } from './redis-keys.ts';
import { BROWSE, HEADER } from './redis-scripts.ts';
import { isEnded } from '../../header.ts';
import type { ListedSession } from '../store.ts';

const PAGE = 200;
/** Digits of the creation time, between principal and id. */
const TIME_DIGITS = 16;

export interface DueQuery {
  now: number;
  max: number;
}

export async function findDue(client: Redis | Cluster, keys: RedisKeys, { now, max }: DueQuery): Promise<string[]> {
  const due: string[] = [];
  for (let at = 0; ; at += PAGE) {
    const page = await client.zrangebyscore(keys.due, '-inf', now, 'LIMIT', at, PAGE);
    const until = await Promise.all(page.map((id) => client.hget(keys.session(id)[0]!, ':u')));
    due.push(...page.filter((_, index) => Number(until[index] ?? 0) <= now));
    if (page.length < PAGE || due.length >= max) return due.slice(0, max);
  }
}

/** Open sessions first, by principal, then ended ones. A session that ends meanwhile may appear twice. */
export async function* browseSessions(
  connection: RedisConnection,
  keys: RedisKeys,
  id?: string,
): AsyncGenerator<ListedSession[]> {
  if (id !== undefined) return yield lookedAt(connection, keys, [id]);
  for (let after = '-'; ;) {
    const from = after;
    const members = await connection.read((client) => client.zrangebylex(keys.open, from, '+', 'LIMIT', 0, PAGE));
    yield lookedAt(connection, keys, members.map(idIn));
    if (members.length < PAGE) break;
    after = `(${members.at(-1)!}`;
  }
  for (let cursor = '0'; ;) {
    const from = cursor;
    const [next, found] = await connection.read((client) => client.zscan(keys.ended, from, 'COUNT', PAGE));
    yield lookedAt(
      connection,
      keys,
      found.filter((_, index) => index % 2 === 0),
    ); // every second item is a score
    if (next === '0') return;
    cursor = next;
  }
}

async function lookedAt(connection: RedisConnection, keys: RedisKeys, ids: string[]): Promise<ListedSession[]> {
  if (ids.length === 0) return [];
  const places = ids.flatMap((id) => {
    const [session, , current] = keys.session(id);
    return [session!, current!];
  });
  const found = (await connection.run(BROWSE, [keys.due, ...places], ids)) as Parameters<typeof toListed>[];
  return found.map((one) => toListed(...one));
}

function toListed(fields: string[], current: string | null, dueAt: string | null): ListedSession {
  const until = fields.findIndex((field, index) => index % 2 === 0 && field === ':u');
  return {
    header: parseHeader(fields, current),
    ...(dueAt !== null && { dueAt: Number(dueAt) }),
    ...(until >= 0 && { heldUntil: Number(fields[until + 1]) }),
  };
}

/** The id in a member of the index of open sessions: principal in JSON, creation time, id. */
function idIn(member: string): string {
  const end = JSON_STRING.exec(member)?.[0].length ?? 0;
  return member.slice(end + TIME_DIGITS);
}

const JSON_STRING = /^"(?:[^"\\]|\\.)*"/s;

export async function listOpen(connection: RedisConnection, keys: RedisKeys, principal: string): Promise<Header[]> {
  const mine = JSON.stringify(principal);
  // In ASCII the colon follows the digits.
  const members = await connection.read((client) => client.zrangebylex(keys.open, `[${mine}`, `(${mine}:`));
  const headers = await Promise.all(
    members.map(async (member) => {
      const [session, , current] = keys.session(member.slice(mine.length + TIME_DIGITS));
      const found = await connection.run(HEADER, [session!, current!]);
      return found ? parseHeader(...(found as [string[], string | null])) : undefined;
    }),
  );
  return headers.filter((header): header is Header => header !== undefined && !isEnded(header));
}
