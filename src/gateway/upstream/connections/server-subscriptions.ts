// What the clients of a connection want to hear of: resources, tasks, and log messages from a level on. It outlives the connection, and all of
// it is asked for again from here: in a new session, and on the next connection.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../protocol/message.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';
import { ProtocolError } from '../../../shared/errors.ts';
import type { ServerDialect } from '../../dialect/speak/server-dialect.ts';

/** Limits the tasks followed at once; clients have to poll the oldest. */
const MAX_TASKS = 1000;

interface Subscription {
  /** How many subscribers share the one subscription at the server. */
  count: number;
  done: Promise<JsonObject>;
}

export class ServerSubscriptions {
  logLevel: LoggingLevel | undefined;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #tasks = new BoundedMap<string, true>(MAX_TASKS);

  /** `tell` runs for the first subscriber of a resource; the others share its result. */
  async add(uri: string, tell: () => Promise<JsonObject>): Promise<JsonObject> {
    const known = this.#subscriptions.get(uri);
    const subscription = known ?? { count: 0, done: tell() };
    this.#subscriptions.set(uri, subscription);
    subscription.count += 1;
    try {
      return await subscription.done;
    } catch (thrown) {
      if (this.#subscriptions.get(uri) === subscription) this.#subscriptions.delete(uri);
      throw thrown;
    }
  }

  /** Returns true for the last subscriber. */
  remove(uri: string): boolean {
    const subscription = this.#subscriptions.get(uri);
    if (!subscription || --subscription.count > 0) return false;
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
