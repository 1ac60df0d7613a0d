// Wakes other processes when a session has changed, by NOTIFY. Only a wake-up: a message may be lost, so everything is also polled. It is sent beside
// the commits, some at a time, because a commit that notifies waits for all others that do.
import { systemClock } from '../../../kernel/base/clock.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { ChangedSession } from '../store.ts';
import type { PostgresConnection } from './postgres-connection.ts';

const GATHER_MS = 20;
/** Of one message: Postgres takes less than 8000 bytes. */
const MOST = 50;
/** More changes at once are left to the polls. */
const MOST_WAITING = 1000;
const LISTEN_AGAIN_MS = 2000;
const LONGEST_ID = 100;

export class PostgresWakeups {
  readonly #connection: PostgresConnection;
  readonly #channel: string;
  readonly #self = randomId().slice(0, 8);
  readonly #changed = new Map<string, number | undefined>();
  readonly #listeners = new Set<(changed: ChangedSession) => void>();
  #isSending = false;
  #closed = false;
  #isListening = false;
  #stop = (): void => {};

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#channel = schema;
  }

  /** This process has changed a session. */
  changed(id: string, dueAt: number | undefined): void {
    if (!this.#connection.listen || this.#closed || id.length > LONGEST_ID || this.#changed.size >= MOST_WAITING)
      return;
    this.#changed.set(id, dueAt);
    if (this.#isSending) return;
    this.#isSending = true;
    systemClock.after(GATHER_MS, () => void this.#send());
  }

  /** Another process has. */
  on(listener: (changed: ChangedSession) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isListening) void this.#listen();
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  async #send(): Promise<void> {
    const all = [...this.#changed].map(([id, dueAt]) => [id, dueAt ?? null]);
    this.#changed.clear();
    this.#isSending = false;
    for (let at = 0; at < all.length && !this.#closed; at += MOST) {
      const payload = JSON.stringify([this.#self, ...all.slice(at, at + MOST)]);
      // Who is not woken polls.
      await this.#connection.run('SELECT pg_notify($1, $2)', [this.#channel, payload]).catch(() => undefined);
    }
  }

  async #listen(): Promise<void> {
    if (this.#closed || !this.#connection.listen) return;
    this.#isListening = true;
    const again = (): void => void systemClock.after(LISTEN_AGAIN_MS, () => void this.#listen());
    try {
      const onMessage = (payload: string): void => this.#hear(payload);
      this.#stop = await this.#connection.listen({ name: `"${this.#channel}"`, onMessage, onLost: again });
      if (this.#closed) this.#stop();
    } catch {
      again(); // the server is away, or a pooler in front of it knows no LISTEN
    }
  }

  #hear(payload: string): void {
    for (const changed of readPayload(payload, this.#self)) for (const listener of this.#listeners) listener(changed);
  }
}

/** Anybody may send on a channel. */
function readPayload(payload: string, self: string): ChangedSession[] {
  try {
    const [from, ...changed] = JSON.parse(payload) as [unknown, ...unknown[]];
    if (from === self) return [];
    return changed.flatMap((one) => {
      const [id, dueAt] = one as [unknown, unknown];
      return typeof id === 'string' ? [{ id, dueAt: typeof dueAt === 'number' ? dueAt : undefined }] : [];
    });
  } catch {
    return []; // not ours
  }
}
