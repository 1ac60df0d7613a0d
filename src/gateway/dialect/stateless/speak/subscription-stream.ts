// Keeps one stream open for all that our side wants to be told. A filter cannot be amended: a new stream is opened first and
// the old one closed once the new one is acknowledged, so nothing is missed in between, and what both tell is told once. One change of
// streams at a time; a wish that the server refuses leaves the old stream as it was.
import type { JsonObject, NotificationMessage } from '../../../../protocol/message.ts';
import type { ServerEvents } from '../../../../protocol/server-view.ts';
import { hasEnded } from '../../../../protocol/target.ts';
import { GatewayError } from '../../../../shared/errors.ts';
import { readChange } from '../../speak/read-change.ts';
import { ListenStream, subscriptionOf } from './listen-stream.ts';
import type { StatelessServerDialect } from './stateless-server-dialect.ts';
import { StreamOverlap } from './stream-overlap.ts';

export class SubscriptionStream {
  readonly #dialect: StatelessServerDialect;
  readonly #events: ServerEvents;
  #changes = false;
  #uris = new Set<string>();
  /** What has ended is left out of the next filter. */
  readonly #taskIds = new Set<string>();
  #current: ListenStream | undefined;
  #opening: ListenStream | undefined;
  /** The last time that one stream took the place of another. */
  #overlap: StreamOverlap | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(dialect: StatelessServerDialect, events: ServerEvents) {
    this.#dialect = dialect;
    this.#events = events;
  }

  /** Wants to be told of changed lists. */
  changes(): void {
    if (this.#changes) return;
    this.#changes = true;
    const { wire } = this.#dialect;
    // A server without push features may refuse: then there is nothing to hear.
    void this.#renew().catch((error: unknown) => wire.log.warn({ link: wire.name, error }, 'upstream.listen-refused'));
  }

  async add(uri: string): Promise<void> {
    this.#uris.add(uri);
    try {
      await this.#renew();
      if (!this.#isStopped && !this.#honours(uri)) throw this.#notSupported(`subscriptions to ${uri}`);
    } catch (thrown) {
      this.#uris.delete(uri);
      throw thrown;
    }
  }

  /** Until the task has ended. */
  async follow(taskId: string): Promise<void> {
    this.#taskIds.add(taskId);
    try {
      await this.#renew();
      if (!this.#isStopped && !this.#honours(taskId, 'taskIds')) throw this.#notSupported(`news of task ${taskId}`);
    } catch (thrown) {
      this.#taskIds.delete(taskId);
      throw thrown;
    }
  }

  async remove(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) await this.#renew();
  }

  /** What came outside of a request's own stream. */
  onNotification(notification: NotificationMessage): void {
    const taken = [this.#opening, this.#current].some((stream) => stream?.take(notification, false));
    // What names another stream comes late, from one that was closed.
    if (!taken && subscriptionOf(notification) === undefined) this.tell(notification);
  }

  tell({ method, params = {} }: NotificationMessage): void {
    const change = readChange(method, params);
    if (change?.kind === 'task' && hasEnded(change.task)) this.#taskIds.delete(change.task.taskId);
    if (change) this.#events.onChange(change);
  }

  stop(): void {
    this.#isStopped = true;
    this.#overlap?.end();
    this.#opening?.stop();
    this.#current?.stop();
  }

  /** Resolves when the server has acknowledged what is wanted now. */
  #renew(): Promise<void> {
    const turn = this.#turn.then(() => this.#swap());
    this.#turn = turn.catch(() => {}); // told to the one who wanted it
    return turn;
  }

  async #swap(): Promise<void> {
    const filter = this.#filter();
    const current = this.#current;
    if (this.#isStopped || (current && !current.isOver && isSame(current.filter, filter))) return;
    this.#overlap?.end();
    if (Object.keys(filter).length === 0) {
      current?.stop();
      this.#current = undefined;
      return;
    }
    const overlap = (this.#overlap = current && new StreamOverlap((notification) => this.tell(notification)));
    const stream = (this.#opening = this.#open(filter));
    try {
      await stream.acknowledged;
      this.#current = stream;
      current?.stop();
      overlap?.acknowledged();
    } catch (thrown) {
      overlap?.end();
      throw thrown;
    } finally {
      this.#opening = undefined;
    }
  }

  #open(filter: JsonObject): ListenStream {
    const overlap = this.#overlap;
    const { wire, server } = this.#dialect;
    return new ListenStream({
      wire,
      filter,
      revision: server.revision,
      envelope: (params) => this.#dialect.envelope.around(params),
      onNotification: (notification) => this.#hear(notification, overlap),
      onGap: (honoured) => this.#tellAll(honoured),
    });
  }

  /** `replacing`: how its stream took the place of the one before. */
  #hear(notification: NotificationMessage, replacing: StreamOverlap | undefined): void {
    const overlap = this.#overlap;
    if (!overlap) this.tell(notification);
    else if (overlap === replacing) overlap.ofNew(notification);
    else overlap.ofOld(notification);
  }

  /** Those who keep lists or resources should look again. */
  #tellAll({ toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions }: JsonObject): void {
    if (toolsListChanged) this.#events.onChange({ kind: 'tools' });
    if (promptsListChanged) this.#events.onChange({ kind: 'prompts' });
    if (resourcesListChanged) this.#events.onChange({ kind: 'resources' });
    for (const uri of Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []) {
      this.#events.onChange({ kind: 'resource', uri: String(uri) });
    }
  }

  #honours(id: string, kind: 'resourceSubscriptions' | 'taskIds' = 'resourceSubscriptions'): boolean {
    const ids = this.#current?.honoured[kind];
    return Array.isArray(ids) && ids.includes(id);
  }

  #notSupported(what: string): GatewayError {
    return new GatewayError('NOT_SUPPORTED', { server: this.#dialect.wire.name, what });
  }

  #filter(): JsonObject {
    const { tools, prompts, resources } = this.#dialect.server.capabilities;
    return {
      ...(this.#changes && tools?.listChanged && { toolsListChanged: true }),
      ...(this.#changes && prompts?.listChanged && { promptsListChanged: true }),
      ...(this.#changes && resources?.listChanged && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
      ...(this.#taskIds.size > 0 && { taskIds: [...this.#taskIds] }),
    };
  }
}

function isSame(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
