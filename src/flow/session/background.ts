// What a process does with its sessions besides answering requests: it runs their turns, keeps those whose steps run, and attends to those that
// are due. Requests (sessions.ts) call this, and this calls turns and the sweeper; they learn of the rest only by SessionHost.
import { GatewayError } from '../../kernel/base/errors.ts';
import type { AnyFlow } from '../define.ts';
import { NOTHING_FOUND } from '../explore/exploration.ts';
import type { Exploration } from '../explore/exploration.ts';
import { callerQuestions, isEnded, waitsForOthers, waitsForPeopleOrEvents } from '../header.ts';
import type { EarlyEnd, Header } from '../journal.ts';
import type { StoredSession } from '../store/store.ts';
import { endSession } from './verbs/end-session.ts';
import type { SessionContext } from './context/session-context.ts';
import { tellListener } from './turn/session-event.ts';
import type { SessionEvent } from './turn/session-event.ts';
import { Sweeper } from './sweeper.ts';
import { TurnRunner } from './turn/turn-runner.ts';
import type { LiveSession, SessionHost, TurnRequest } from './turn/turn-request.ts';
import type { Turn } from './turn/turn.ts';
import { loadSession, migrateJournal } from './values/load-session.ts';
import type { LoadRequest } from './values/load-session.ts';
import { waitForTime, waitForTurn } from './verbs/session-watch.ts';

/** The flows, and what is known of them without running them. */
interface KnownFlows {
  flows: ReadonlyMap<string, AnyFlow>;
  explored: ReadonlyMap<string, Exploration>;
}

export class Background implements SessionHost {
  readonly context: SessionContext;
  readonly flows: ReadonlyMap<string, AnyFlow>;
  readonly #explored: ReadonlyMap<string, Exploration>;
  readonly #live: Map<string, LiveSession>;
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  readonly #sweeper: Sweeper;

  /** `live`: those of another Background, which runs the same sessions over another store. */
  constructor(context: SessionContext, { flows, explored }: KnownFlows, live = new Map<string, LiveSession>()) {
    this.context = context;
    this.flows = flows;
    this.#explored = explored;
    this.#live = live;
    this.#sweeper = new Sweeper(this);
  }

  /** The same over another store, for one request. It attends to nothing by itself. */
  over(context: SessionContext): Background {
    const one = new Background(context, { flows: this.flows, explored: this.#explored }, this.#live);
    one.#sweeper.stop();
    return one;
  }

  explored({ name }: AnyFlow): Exploration {
    return this.#explored.get(name) ?? NOTHING_FOUND;
  }

  flowOf({ tool }: Header): AnyFlow {
    const flow = this.flows.get(tool);
    if (!flow) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool });
    return flow;
  }

  async load(request: LoadRequest): Promise<StoredSession> {
    const stored = await loadSession(this.context, request, (id) => this.attend(id));
    return migrateJournal(stored, this.flows.get(stored.header.tool));
  }

  async runTurn(request: TurnRequest): Promise<Turn | undefined> {
    const { next } = this.explored(request.flow);
    const turn = await new TurnRunner(this, request, next).turn();
    if (!turn) return undefined;
    this.context.counts.turned(turn.header);
    this.expect(turn.header);
    return turn;
  }

  end(stored: StoredSession, flow: AnyFlow | undefined, ending: EarlyEnd): Promise<Turn | undefined> {
    return endSession(this, { stored, flow, ending }, this.#live.get(stored.header.id));
  }

  on(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: SessionEvent): void {
    // A copy, because a listener may add listeners, which do not get this event.
    for (const listener of Array.from(this.#listeners)) tellListener(this.context.log, listener, event);
  }

  expect(header: Header): void {
    this.#sweeper.expect(header);
  }

  attend(sessionId: string): Promise<void> {
    return this.#sweeper.attend(sessionId);
  }

  sweep(): Promise<void> {
    return this.#sweeper.sweep();
  }

  isLive(id: string): boolean {
    return this.#live.has(id);
  }

  /** The turn that follows by itself, because steps run in this process. */
  nextOf({ id }: Header): Promise<Turn> | undefined {
    return this.#live.get(id)?.next;
  }

  onLive(live: LiveSession): void {
    this.#live.set(live.id, live);
    void live.done.then((turn) => this.expect(turn.header));
    void live.done.then(() => {
      if (this.#live.get(live.id) === live) this.#live.delete(live.id);
    });
  }

  onDue(id: string): void {
    const { log } = this.context;
    this.attend(id).catch((error: unknown) => log.error({ error }, 'flow.sweep-failed'));
  }

  onMoved(turn: Turn): void {
    this.expect(turn.header);
    this.emit({ kind: 'turn', turn });
  }

  onLeft(id: string): void {
    this.#live.get(id)?.look();
  }

  laterTurn(header: Header): Pick<Turn, 'later'> {
    if (isEnded(header) || callerQuestions(header).length > 0 || !waitsForOthers(header)) return {};
    if (this.context.lasting) return { later: () => waitForTurn(this, header) };
    // Sessions in tokens receive no events.
    return waitsForPeopleOrEvents(header) ? {} : { later: () => waitForTime(this, header) };
  }

  /** Leaves a session whose steps run here to another process, or to its owner. */
  leave(id: string): void {
    this.#live.get(id)?.abort();
  }

  /** Waits for all running steps and undos of this process. */
  async idle(): Promise<void> {
    await Promise.all([...this.#live.values()].map(({ done }) => done));
  }

  /** Leaves running sessions to another process. */
  async close(): Promise<void> {
    this.#sweeper.stop();
    this.context.warmBodies.clear();
    for (const live of this.#live.values()) live.abort();
    await this.idle();
  }
}
