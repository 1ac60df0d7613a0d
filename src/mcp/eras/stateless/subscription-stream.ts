// Keeps one listen stream open for everything that we subscribe to. A filter cannot be changed, so a new stream opens
// first and the old one closes once the new one is acknowledged; nothing is missed, and duplicates are removed. Streams
// change one at a time; a filter that the server refuses leaves the old stream open.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { ServerEvents, ServerView } from '../../../kernel/server-view.ts';
import { hasEnded } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { META } from '../meta.ts';
import { readChange } from '../notifications.ts';
import type { Wire } from '../speak/server-dialect.ts';
import { ListenStream, subscriptionOf } from './listen-stream.ts';
import type { OutgoingEnvelope } from './envelope.ts';

/** The server that reports the changes. */
interface ReportingServer {
  readonly wire: Wire;
  readonly server: ServerView;
  readonly envelope: OutgoingEnvelope;
}

const LISTS = ['tools', 'prompts', 'resources'] as const;

export class SubscriptionStream {
  readonly #dialect: ReportingServer;
  readonly #events: ServerEvents;
  #changes = false;
  readonly #uris = new Set<string>();
  /** Tasks that have ended are left out of the next filter. */
  readonly #taskIds = new Set<string>();
  #current: ListenStream | undefined;
  #opening: ListenStream | undefined;
  /** The latest replacement of one stream by another. */
  #overlap: StreamOverlap | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(dialect: ReportingServer, events: ServerEvents) {
    this.#dialect = dialect;
    this.#events = events;
  }

  /** Subscribes to changes of lists. */
  changes(): void {
    if (this.#changes) return;
    this.#changes = true;
    const { wire } = this.#dialect;
    // A server without push features may refuse: then there are no changes to receive.
    void this.#renew().catch((error: unknown) => wire.log.warn({ link: wire.name, error }, 'upstream.listen-refused'));
  }

  add(uri: string): Promise<void> {
    return this.#subscribe(this.#uris, uri, { kind: 'resourceSubscriptions', what: `subscriptions to ${uri}` });
  }

  /** Subscribes to a task until it ends. */
  follow(taskId: string): Promise<void> {
    return this.#subscribe(this.#taskIds, taskId, { kind: 'taskIds', what: `news of task ${taskId}` });
  }

  async remove(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) await this.#renew();
  }

  /** A notification that arrived outside of a request's own stream. */
  onNotification(notification: NotificationMessage): void {
    const taken = [this.#opening, this.#current].some((stream) => stream?.take(notification, false));
    // One that names another stream is late: that stream is closed.
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

  async #subscribe(ids: Set<string>, id: string, { kind, what }: { kind: string; what: string }): Promise<void> {
    ids.add(id);
    try {
      await this.#renew();
      const honoured = this.#current?.honoured[kind];
      if (this.#isStopped || (Array.isArray(honoured) && honoured.includes(id))) return;
      throw new GatewayError('NOT_SUPPORTED', { server: this.#dialect.wire.name, what });
    } catch (thrown) {
      ids.delete(id);
      throw thrown;
    }
  }

  /** Resolves when the server has acknowledged the current filter. */
  #renew(): Promise<void> {
    const turn = this.#turn.then(() => this.#swap());
    this.#turn = turn.catch(() => {}); // reported to the caller
    return turn;
  }

  async #swap(): Promise<void> {
    const filter = this.#filter();
    const current = this.#current;
    if (this.#isStopped || (current && !current.isOver && JSON.stringify(current.filter) === JSON.stringify(filter)))
      return;
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

  /** `replacing` is the overlap with the previous stream. */
  #hear(notification: NotificationMessage, replacing: StreamOverlap | undefined): void {
    const overlap = this.#overlap;
    if (!overlap) this.tell(notification);
    else if (overlap === replacing) overlap.ofNew(notification);
    else overlap.ofOld(notification);
  }

  /** Reports changes of everything subscribed, so that caches reload. */
  #tellAll(honoured: JsonObject): void {
    for (const kind of LISTS) if (honoured[`${kind}ListChanged`]) this.#events.onChange({ kind });
    const { resourceSubscriptions: uris } = honoured;
    for (const uri of Array.isArray(uris) ? uris : []) this.#events.onChange({ kind: 'resource', uri: String(uri) });
  }

  #filter(): JsonObject {
    const { capabilities } = this.#dialect.server;
    const lists = this.#changes ? LISTS.filter((kind) => capabilities[kind]?.listChanged) : [];
    return {
      ...Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true])),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
      ...(this.#taskIds.size > 0 && { taskIds: [...this.#taskIds] }),
    };
  }
}

/** How long after its acknowledgement the new stream may still send copies. */
const COPY_MS = 50;
/** The limit for a server that acknowledges slowly. */
const MAX_WAIT_MS = 250;

/**
 * Removes duplicates while one listen stream replaces another and the server reports a change on both. The old stream's
 * copy waits for the new stream's, and the change is reported once. Each stream is in order, so a change that the new
 * stream skipped will not arrive on it. Nothing without a copy is dropped, and nothing waits long.
 */
class StreamOverlap {
  readonly #tell: (notification: NotificationMessage) => void;
  /** Received on the old stream only, so far. */
  readonly #waiting: NotificationMessage[] = [];
  /** Received on the new stream only, so far. */
  readonly #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(tell: (notification: NotificationMessage) => void) {
    this.#tell = tell;
  }

  ofOld(notification: NotificationMessage): void {
    if (this.#isOver) return this.#tell(notification);
    if (this.#told.delete(textOf(notification))) return;
    this.#waiting.push(notification);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#release();
    }, MAX_WAIT_MS).unref();
  }

  ofNew(notification: NotificationMessage): void {
    if (this.#isOver) return this.#tell(notification);
    const text = textOf(notification);
    const copy = this.#waiting.findIndex((one) => textOf(one) === text);
    this.#release(copy === -1 ? undefined : copy);
    if (copy === -1) this.#told.add(text);
    else this.#waiting.shift();
    this.#tell(notification);
  }

  /** The new stream is open, and the old one is closed. */
  acknowledged(): void {
    if (this.#waiting.length === 0) return this.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), COPY_MS).unref();
  }

  /** Only one stream is left. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#release();
  }

  #release(count = this.#waiting.length): void {
    for (const notification of this.#waiting.splice(0, count)) this.#tell(notification);
  }
}

function textOf({ method, params = {} }: NotificationMessage): string {
  const { [META.subscriptionId]: _, ...meta } = isObject(params._meta) ? params._meta : {};
  return JSON.stringify([method, { ...params, _meta: meta }]);
}
