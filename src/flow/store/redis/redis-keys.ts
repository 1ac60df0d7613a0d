// The names of keys. Everything that one script touches shares one hash tag, and so lives on one node of a cluster: a session has
// to change in one step with the indexes over all sessions. Turns and blobs stand alone and are spread.
export interface RedisKeys {
  /** Session, entries, current, due, open, ended: in the order in which the scripts want them. */
  session(id: string): string[];
  readonly due: string;
  readonly open: string;
  readonly ended: string;
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
    turn: (id, rev) => `${prefix}:turn:${rev}:${id}`,
    blob: (sha256) => `${prefix}:blob:${sha256}`,
  };
}
