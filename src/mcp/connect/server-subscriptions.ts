// What the clients of a connection want to hear of, and who: resources, tasks, and log messages from a level on. There is no other list of it. It outlives
// the connection, and all of it is asked for again from here: in a new session, and on the next connection.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../kernel/message.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import type { ServerDialect } from '../eras/speak/server-dialect.ts';

/** Limits the tasks followed at once; clients have to poll the oldest. */
const MAX_TASKS = 1000;

interface Subscription {
  /** They share the one subscription at the server, and its result. */
  readonly subscribers: Set<object>;
  readonly done: Promise<JsonObject>;
}

export class ServerSubscriptions {
  logLevel: LoggingLevel | undefined;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #tasks = new BoundedMap<string, true>(MAX_TASKS);

  /** The resources with subscribers. */
  get uris(): string[] {
    return [...this.#subscriptions.keys()];
  }

  /** One that has subscribed to several resources comes several times. */
  get subscribers(): object[] {
    return Array.from(this.#subscriptions.values(), ({ subscribers }) => [...subscribers]).flat();
  }

  /** The resources that one of them has subscribed to. */
  urisOf(subscriber: object): string[] {
    return this.uris.filter((uri) => this.#subscriptions.get(uri)!.subscribers.has(subscriber));
  }

  has(uri: string): boolean {
    return this.#subscriptions.has(uri);
  }

  /** `tell` runs for the first subscriber of a resource; the others get the same result, also if the server refuses. */
  async add(uri: string, subscriber: object, tell: () => Promise<JsonObject>): Promise<JsonObject> {
    const known = this.#subscriptions.get(uri);
    const subscription = known ?? { subscribers: new Set(), done: Promise.resolve().then(tell) };
    this.#subscriptions.set(uri, subscription);
    subscription.subscribers.add(subscriber);
    try {
      return await subscription.done;
    } catch (thrown) {
      // Others may have subscribed again since then, with a request of their own.
      if (this.#subscriptions.get(uri) === subscription) this.#subscriptions.delete(uri);
      throw thrown;
    }
  }

  /** Returns true for the last subscriber. Default: any one of them. */
  remove(uri: string, subscriber?: object): boolean {
    const { subscribers } = this.#subscriptions.get(uri) ?? {};
    const [anyone] = subscribers ?? [];
    if (!subscribers?.delete(subscriber ?? anyone!) || subscribers.size > 0) return false;
    return this.#subscriptions.delete(uri);
  }

  /** Follows a task until it ends; the server need not know how many clients are interested. */
  async follow(taskId: string, tell: () => Promise<void>): Promise<void> {
    this.#tasks.set(taskId, true);
    try {
      await tell();
    } catch (thrown) {
      this.#tasks.delete(taskId);
      throw thrown;
    }
  }

  forgetTask(taskId: string): void {
    this.#tasks.delete(taskId);
  }

  /** Asks for all of it again. A server that refuses one of them merely sends no updates; a lost one is asked again when it is back. */
  async repeat(tell: (work: (speaker: ServerDialect) => Promise<unknown>) => Promise<unknown>): Promise<void> {
    const { logLevel } = this;
    const told = Array.from(this.#subscriptions, async ([uri, subscription]) => {
      try {
        await tell((speaker) => speaker.subscribe(uri));
      } catch (thrown) {
        const isRefused = thrown instanceof ProtocolError && this.#subscriptions.get(uri) === subscription;
        if (isRefused) this.#subscriptions.delete(uri);
      }
    });
    const others = Array.from(this.#tasks.entries(), ([taskId]) =>
      tell(async (speaker) => speaker.followTask?.(taskId)),
    );
    if (logLevel !== undefined) others.push(tell((speaker) => speaker.setLogLevel(logLevel)));
    await Promise.allSettled([...told, ...others]);
  }
}
