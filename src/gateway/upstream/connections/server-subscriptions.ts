// Counts resource subscriptions and keeps the log level of a session, to restore both when the server has lost the session.
import type { JsonObject } from '../../../protocol/message.ts';
import type { ServerDialect } from '../../dialect/speak/server-dialect.ts';

interface Subscription {
  /** How many subscribers share the one subscription at the server. */
  count: number;
  done: Promise<JsonObject>;
}

export class ServerSubscriptions {
  logLevel: string | undefined;
  readonly #subscriptions = new Map<string, Subscription>();

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

  /** A server that refuses one of them merely sends no updates. */
  async repeatTo(speaker: ServerDialect): Promise<void> {
    const { logLevel } = this;
    const told: Promise<unknown>[] = [...this.#subscriptions.keys()].map((uri) => speaker.subscribe(uri));
    if (logLevel !== undefined) told.push(speaker.setLogLevel(logLevel));
    await Promise.allSettled(told);
  }
}
