// Who is told what happens in a session: the client that last did something with it, as long as it is there. A request that is
// being answered goes out first: whatever follows from it is told after it.
import type { ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Watcher } from '../../protocol/target.ts';
import type { Log } from '../../shared/log.ts';
import type { SessionEvent } from '../session/session-event.ts';
import type { Turn } from '../session/turn.ts';
import { isEnded } from '../store/store.ts';
import { toPush } from './spelling.ts';

/** Sessions of clients that never come back are forgotten, oldest first. */
const MAX_CLAIMS = 20_000;

export class Pushes {
  readonly #log: Log;
  readonly #watchers = new Map<ClientView, Watcher>();
  readonly #claims = new Map<string, ClientView>();

  constructor(log: Log) {
    this.#log = log;
  }

  attend(watcher: Watcher): () => void {
    if (watcher.ask) this.#watchers.set(watcher.client, watcher);
    return () => void this.#watchers.delete(watcher.client);
  }

  canReach(client: ClientView): boolean {
    return this.#watchers.has(client);
  }

  claim(sessionId: string, client: ClientView): void {
    this.#claims.delete(sessionId);
    this.#claims.set(sessionId, client);
    if (this.#claims.size > MAX_CLAIMS) this.#claims.delete(this.#claims.keys().next().value!);
  }

  /** After the request at hand: what it has led to, and what will follow by itself. */
  later(turn: Turn, client: ClientView, next: ReturnType<typeof toPush>): void {
    this.claim(turn.header.id, client);
    setImmediate(() => {
      if (next) this.#tell(turn.header.id, next);
      void this.#follow(turn);
    });
  }

  /** What has happened in a session by itself. */
  happened(turn: Turn): void {
    const next = toPush(turn);
    if (next) this.#tell(turn.header.id, next);
    if (isEnded(turn.header)) this.#claims.delete(turn.header.id);
  }

  warn({ header: { id: sessionId, expiresAt }, remainingMs }: Extract<SessionEvent, { kind: 'warning' }>): void {
    const client = this.#claims.get(sessionId);
    const params = { sessionId, expiresAt, remainingMs };
    if (client) this.#watchers.get(client)?.notify?.('interaction.timeoutWarning', params);
  }

  async #follow({ next }: Turn): Promise<void> {
    const turn = await next;
    if (!turn) return;
    this.happened(turn);
    await this.#follow(turn);
  }

  #tell(sessionId: string, { method, params }: { method: string; params: JsonObject }): void {
    const client = this.#claims.get(sessionId);
    const watcher = client && this.#watchers.get(client);
    // What a client answers to being told changes nothing: its user's answer is a request of its own.
    watcher?.ask?.({ method, params }).catch((error: unknown) => this.#log.debug({ sessionId, error }, 'flow.untold'));
  }
}
