// The sessions of all HTTP ports of one gateway: a client that has opened a session at one of them can go on at another. They end with the last
// port.
import type { HttpResponse } from '../../../kernel/base/http.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { comeBackMs } from '../drain.ts';
import { MemorySessions } from '../durable/memory-sessions.ts';
import { SharedSessions } from '../durable/shared-sessions.ts';
import { SessionJournal } from '../durable/session-journal.ts';
import type { HttpSessionStore } from '../durable/session-store.ts';
import type { HttpSession } from './http-session.ts';
import { SessionRoom, SessionTable } from './session-table.ts';
import type { SseSession } from './sse-session.ts';

type SessionsContext = Pick<ServeContext, 'limits' | 'clock' | 'log' | 'sealer' | 'stateFolder' | 'nodes' | 'state'>;

export class HttpSessions {
  readonly store: HttpSessionStore;
  readonly sse: SessionTable<SseSession>;
  readonly #context: SessionsContext;
  readonly #room: SessionRoom;
  readonly #tables = new Map<string, SessionTable<HttpSession>>();
  /** Streams that only listen, to sessions of other gateways. */
  readonly #elsewhere = new Set<HttpResponse>();
  #ports = 0;
  isClosed = false;
  /** Sessions go to other gateways as soon as nothing is in flight. */
  isDraining = false;

  constructor(context: SessionsContext, store: HttpSessionStore = openStore(context)) {
    this.#context = context;
    this.store = store;
    this.#room = new SessionRoom(context.limits);
    store.onLost?.((id) => this.lose(id));
    this.sse = new SessionTable(context.limits, context.clock, this.#room);
  }

  /** The sessions of a path: those of one server are not those of another. */
  at(part: string): SessionTable<HttpSession> {
    let table = this.#tables.get(part);
    if (!table) {
      table = new SessionTable<HttpSession>(this.#context.limits, this.#context.clock, this.#room);
      this.#tables.set(part, table);
    }
    return table;
  }

  get size(): number {
    return this.#all.reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether what is live here can be used without a further look. */
  get isSure(): boolean {
    return !this.isDraining && this.store.isSure;
  }

  /** A port serves them. Returns what it calls when it closes. */
  serve(): () => void {
    this.#ports++;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      if (--this.#ports === 0) this.#close();
    };
  }

  /** Calls in flight. */
  *calls(): Iterable<object> {
    for (const table of this.#all) for (const { conversation } of table.values()) yield* conversation.calls;
  }

  /** Ends the streams of clients that only listen; their sessions stay, where the transport can resume them. */
  sendAway(): void {
    this.isDraining = true;
    for (const table of this.#tables.values()) for (const session of table.values()) this.#sendAway(session, table);
    for (const session of this.sse.values()) if (session.conversation.inFlight === 0) this.sse.remove(session);
    for (const response of this.#elsewhere)
      if (response.headersSent && !response.writableEnded) response.end(`retry: ${comeBackMs()}\n\n`);
  }

  /** A stream that is passed on from another gateway. */
  passesOn(response: HttpResponse): void {
    this.#elsewhere.add(response);
    response.once('close', () => this.#elsewhere.delete(response));
  }

  #sendAway(session: HttpSession, table: SessionTable<HttpSession>): void {
    session.sendAway();
    if (this.store.isShared && session.conversation.inFlight === 0) void this.giveAway(session.id, table);
  }

  /** So that another gateway can take the session over at once. */
  async giveAway(id: string, table: SessionTable<HttpSession>): Promise<void> {
    table.lose(id);
    await this.store.release([id]);
  }

  /** Another gateway has taken the session over. */
  lose(id: string): void {
    for (const table of this.#tables.values()) table.lose(id);
  }

  #close(): void {
    this.isClosed = true;
    for (const table of this.#all) table.close();
    this.store.close();
  }

  get #all(): SessionTable<HttpSession | SseSession>[] {
    return [this.sse, ...this.#tables.values()] as SessionTable<HttpSession | SseSession>[];
  }
}

function openStore({
  sealer,
  stateFolder: folder,
  limits,
  clock,
  log,
  nodes,
  state,
}: SessionsContext): HttpSessionStore {
  const idleMs = limits.sessionIdleMs;
  if (nodes && state?.isShared) return new SharedSessions({ state, nodes, idleMs, clock, log });
  if (!sealer.durable || folder === undefined) return new MemorySessions(nodes?.mark);
  return new SessionJournal({ folder, idleMs, clock, log, mark: nodes?.mark });
}
