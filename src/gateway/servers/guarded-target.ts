// A target of the embedding program, an object of its own with the methods of a server. Whatever one of its methods throws or returns is that server's
// trouble: the gateway, its other servers and the process go on. What fails is logged, and the rest is as if the server did not have the method.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { TargetLayer } from '../../kernel/target.ts';
import type { Change, ClientOpening, HandleResult, OpenPages, Target, Watcher } from '../../kernel/target.ts';
import type { Family } from '../../kernel/base/metric.ts';
import { isServerTarget } from './target-options.ts';
import { callSafely, readSafely } from '../../kernel/base/author-callback.ts';
import { GatewayError, toReadable } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';

/** A connection to a server guards itself, and has more methods than a target. */
export function guardTarget(target: Target, name: string, log: Log): Target {
  return isServerTarget(target) ? target : new GuardedTarget(target, name, log);
}

class GuardedTarget extends TargetLayer {
  readonly #name: string;
  readonly #log: Log;

  constructor(target: Target, name: string, log: Log) {
    super(target);
    this.#name = name;
    this.#log = log;
  }

  override get info(): Implementation {
    return this.#read('info', () => super.info, undefined) ?? { name: this.#name, version: '' };
  }

  get takesOwnTools(): boolean | undefined {
    return this.target.takesOwnTools;
  }

  get open(): OpenPages | undefined {
    return this.target.open;
  }

  override get instructions(): string | undefined {
    return this.#read('instructions', () => super.instructions, undefined);
  }

  override get status(): Target['status'] {
    return this.#read('status', () => super.status, undefined);
  }

  override capabilities(client: ClientView): ServerCapabilities {
    const declared = this.#read('capabilities', () => super.capabilities(client), {});
    return isObject(declared) ? declared : {};
  }

  override handle(exchange: Exchange): HandleResult {
    try {
      const answer = super.handle(exchange);
      if (!isThenable(answer)) return checked(answer);
      return Promise.resolve(answer).then(checked, (thrown: unknown) => Promise.reject(toReadable(thrown)));
    } catch (thrown) {
      throw toReadable(thrown);
    }
  }

  override async ready(opening?: ClientOpening): Promise<void> {
    await Promise.resolve()
      .then(() => super.ready(opening))
      .catch((error: unknown) => this.#fail('ready', error));
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const stop = this.#read('watch', () => super.watch(listener, watcher), undefined);
    return () => {
      if (typeof stop === 'function') callSafely(stop, (error) => this.#fail('watch', error));
    };
  }

  override greeting(client: ClientView): JsonObject | undefined {
    return this.#read('greeting', () => super.greeting(client), undefined);
  }

  override notify(notification: NotificationMessage, client: ClientView): void {
    callSafely(
      () => this.target.notify?.(notification, client), // not by super, which would drop a promise
      (error) => this.#fail('notify', error),
    );
  }

  heldBack(area: 'tools' | 'prompts'): ReadonlyMap<string, Error> | undefined {
    const held = this.#read('heldBack', () => this.target.heldBack?.(area), undefined);
    return held instanceof Map ? held : undefined;
  }

  async metrics(): Promise<Family[]> {
    try {
      return (await this.target.metrics?.()) ?? [];
    } catch (error) {
      this.#fail('metrics', error);
      return [];
    }
  }

  override inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#read('inputSchema', () => super.inputSchema(tool, client), undefined);
  }

  #read<T>(method: string, read: () => T, otherwise: T): T {
    return readSafely(read, otherwise, (error) => this.#fail(method, error));
  }

  #fail(method: string, thrown: unknown): void {
    this.#log.error({ server: this.#name, method, error: toReadable(thrown) }, 'server.failed');
  }
}

function isThenable(answer: HandleResult): answer is Promise<ResultObject> {
  return answer instanceof Promise || typeof (answer as { then?: unknown } | undefined)?.then === 'function';
}

function checked(result: ResultObject): ResultObject {
  if (isObject(result)) return result;
  throw new GatewayError('INTERNAL', {}, { cause: new TypeError('A target must answer with an object') });
}
