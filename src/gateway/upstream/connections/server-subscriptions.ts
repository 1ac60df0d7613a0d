// What was asked of a server for the length of a session: to be told of resources, and from which level on to log. A server
// that has forgotten the session has forgotten these too.
import type { JsonObject } from '../../../protocol/message.ts';
import type { ServerDialect } from '../../dialect/speak/server-dialect.ts';

interface Subscription {
  /** How many want it; the server knows of one. */
  count: number;
  done: Promise<JsonObject>;
}

export class ServerSubscriptions {
  logLevel: string | undefined;
  readonly #subscriptions = new Map<string, Subscription>();

  /** `tell` is called for the first who wants this resource; the others share its outcome. */
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

  /** True when it was the last who wanted it. */
  remove(uri: string): boolean {
    const subscription = this.#subscriptions.get(uri);
    if (!subscription || --subscription.count > 0) return false;
    return this.#subscriptions.delete(uri);
  }

  /** A server that no longer takes one of them is as good as one that has nothing to tell. */
  async repeatTo(speaker: ServerDialect): Promise<void> {
    const { logLevel } = this;
    const told: Promise<unknown>[] = [...this.#subscriptions.keys()].map((uri) => speaker.subscribe(uri));
    if (logLevel !== undefined) told.push(speaker.setLogLevel(logLevel));
    await Promise.allSettled(told);
  }
}
