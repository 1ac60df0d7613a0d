// What is asked of all sessions rather than one: which are due, which belong to somebody. Reads only, and not all at once: a session
// that changes in between is seen as it is when its turn comes, but whole. Header and `current` lie apart and change together.
import type { Cluster, Redis } from 'ioredis';
import type { Header } from '../journal.ts';
import type { Connection } from './redis-connection.ts';
import { headerFrom } from './redis-fields.ts';
import type { RedisKeys } from './redis-keys.ts';
import { HEADER } from './redis-scripts.ts';
import { isEnded } from './store.ts';

const PAGE = 200;
/** Digits of the time of creation, between principal and id. */
const TIME_DIGITS = 16;

export interface Due {
  now: number;
  max: number;
}

export async function dueIn(client: Redis | Cluster, keys: RedisKeys, { now, max }: Due): Promise<string[]> {
  const due: string[] = [];
  for (let at = 0; ; at += PAGE) {
    const page = await client.zrangebyscore(keys.due, '-inf', now, 'LIMIT', at, PAGE);
    const until = await Promise.all(page.map((id) => client.hget(keys.session(id)[0]!, ':u')));
    due.push(...page.filter((_, index) => Number(until[index] ?? 0) <= now));
    if (page.length < PAGE || due.length >= max) return due.slice(0, max);
  }
}

export async function listedIn(connection: Connection, keys: RedisKeys, principal: string): Promise<Header[]> {
  const mine = JSON.stringify(principal);
  // A colon comes right after the digits.
  const members = await connection.read((client) => client.zrangebylex(keys.open, `[${mine}`, `(${mine}:`));
  const headers = await Promise.all(
    members.map(async (member) => {
      const [session, , current] = keys.session(member.slice(mine.length + TIME_DIGITS));
      const found = await connection.run(HEADER, [session!, current!]);
      return found ? headerFrom(...(found as [string[], string | null])) : undefined;
    }),
  );
  return headers.filter((header): header is Header => header !== undefined && !isEnded(header));
}
