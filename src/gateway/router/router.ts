// Several targets as one. Lists are joined in the order of the configuration, names are kept apart, and each request goes to
// the one target that owns what it names. With a single target behind it everything passes as it is, cursors too.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Change, Target } from '../../protocol/target.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import type { Sealer } from '../../shared/seal.ts';
import { Catalogs } from './catalogs.ts';
import type { NameBook } from './catalogs.ts';
import { mergeCapabilities } from './merge-capabilities.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';
import { routeByMethod } from './route-by-method.ts';

export interface RouterOptions {
  info: Implementation;
  instructions?: string | undefined;
  /** Kept by whoever replaces one router by another. */
  names: NameBook;
  clock: Clock;
  log: Log;
  sealer: Sealer;
  /** How long the first client may be kept waiting for servers that start. */
  startMs?: number | undefined;
}

export class Router implements Target {
  readonly info: Implementation;
  readonly #options: RouterOptions;
  readonly #members: readonly Member[];
  readonly #catalogs: Catalogs;

  constructor(members: readonly Member[], options: RouterOptions) {
    this.#members = members;
    this.#options = options;
    this.info = options.info;
    this.#catalogs = new Catalogs(members, options);
  }

  get instructions(): string | undefined {
    if (this.#options.instructions !== undefined) return this.#options.instructions;
    const said = this.#members.flatMap(({ name, target }) =>
      target.instructions ? [{ name, text: target.instructions }] : [],
    );
    if (this.#members.length === 1) return said[0]?.text;
    return said.length > 0 ? said.map(({ name, text }) => `## ${name}\n${text}`).join('\n\n') : undefined;
  }

  /** A server that does not come up in time is told of later, by a changed list. */
  async ready(): Promise<void> {
    const all = Promise.all(this.#members.map(async ({ target }) => target.ready?.()));
    let stop = (): void => {};
    const late = new Promise<void>(
      (resolve) => (stop = this.#options.clock.after(this.#options.startMs ?? 10_000, resolve)),
    );
    await Promise.race([all, late]);
    stop();
  }

  capabilities(client: ClientView): ServerCapabilities {
    return mergeCapabilities(this.#members.map(({ target }) => target.capabilities(client)));
  }

  watch(listener: (change: Change) => void): () => void {
    const stops = this.#members.map((member) =>
      member.target.watch((change) => {
        const told = this.#catalogs.onChange(member, change);
        if (told) listener(told);
      }),
    );
    return () => stops.forEach((stop) => stop());
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#catalogs.inputSchema(tool, client);
  }

  handle(exchange: Exchange): Promise<JsonObject> | JsonObject {
    const [only, ...others] = this.#members;
    if (!only) throw new GatewayError('METHOD_NOT_FOUND', { method: exchange.method });
    if (others.length === 0) return handTo(only, exchange);
    return routeByMethod(exchange, this.#catalogs, this.#options.sealer);
  }
}
