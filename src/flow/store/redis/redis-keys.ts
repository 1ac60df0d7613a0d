// The names of keys. All keys of one script share a hash tag, and so are on one node of a cluster, because a session changes together with the
// indexes over all sessions. Turns and blobs are independent, and spread over the nodes.
export interface RedisKeys {
  /** Session, entries, current, due, open, ended: in the order of KEYS in the scripts. */
  session(id: string): string[];
  readonly due: string;
  readonly open: string;
  readonly ended: string;
  readonly salt: string;
  turn(id: string, rev: number): string;
  blob(sha256: string): string;
}

export function createRedisKeys(prefix: string): RedisKeys {
  const tag = `{${prefix}}`;
  const [due, open, ended] = [`${tag}:due`, `${tag}:open`, `${tag}:ended`];
  return {
    session: (id) => [`${tag}:s:${id}`, `${tag}:e:${id}`, `${tag}:c:${id}`, due, open, ended],
    due,
    open,
    ended,
    salt: `${tag}:salt`,
    turn: (id, rev) => `${prefix}:turn:${rev}:${id}`,
    blob: (sha256) => `${prefix}:blob:${sha256}`,
  };
}
