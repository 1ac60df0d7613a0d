// The steps before the servers, as one target: all servers for /mcp, one or a group for /mcp/<name>. A request passes the steps and is routed to
// the server that owns what it names. Servers and steps can be replaced while clients are connected.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../kernel/exchange.ts';
import { atOnce } from '../kernel/base/stray-promises.ts';
import { toNotification } from '../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../kernel/message.ts';
import { handleWithGatewayTool, isGatewayToolCall } from '../kernel/gateway-tool.ts';
import { InternalExchange } from '../kernel/internal-exchange.ts';
import type { ResultObject } from '../kernel/raw/raw-object.ts';
import type { StepGreeting, OriginOf, Step } from '../kernel/step.ts';
import type { Change, ClientOpening, Handle, Target, Watcher } from '../kernel/target.ts';
import { LIST_TOOLS, SUBSCRIBE_RESOURCE } from '../kernel/methods.ts';
import { OncePerTick } from '../kernel/containers/memo.ts';
import { nameBehind, originBehind, passAsk, passChange } from './chain/server-initiated.ts';
import { createChain, createScope } from './chain/chain.ts';
import type { ChainOptions } from './chain/chain.ts';
import type { Member } from './router/member.ts';
import { Router } from './router/router.ts';
import type { RouterOptions } from './router/router.ts';
import { RuleCheck } from './features/filter/unmatched-rules.ts';

interface ListCheck {
  rules: RuleCheck;
  /** The chain for a checked list. */
  list: Handle;
}

export class RoutedChain implements Target {
  readonly takesOwnTools = true;
  readonly #options: RouterOptions;
  readonly #watchers = new Map<(change: Change) => void, { watcher: Watcher | undefined; unwatch: () => void }>();
  #steps: readonly Step[] = [];
  /** Innermost first. */
  #greetings: readonly StepGreeting[] = [];
  readonly #told = new OncePerTick<Change, Change | undefined>();
  readonly #reported = new Set<string>();
  /** Set until all rules have been compared with the servers' lists. */
  #check: ListCheck | undefined;
  #router!: Router;
  #chain!: Handle;
  #scope = '';
  readonly #lineage = createScope();

  constructor(members: readonly Member[], steps: readonly Step[], options: RouterOptions) {
    this.#options = options;
    this.#set(members, steps);
  }

  /**
   * Replaces servers and steps. Requests under way continue with the old ones, except a call that waits for its user before it
   * reaches a server: it passes the new steps afterwards. Clients are notified of changed lists.
   */
  replace(members: readonly Member[], steps: readonly Step[]): void {
    this.#set(members, steps);
    for (const [listener, { watcher, unwatch }] of this.#watchers) {
      // In this order, so that a server that stays never sees the client leave.
      this.#watchers.set(listener, { watcher, unwatch: this.#watchRouter(listener, watcher) });
      unwatch();
      for (const kind of ['tools', 'prompts', 'resources'] as const) listener({ kind });
    }
  }

  handle(exchange: Exchange): Promise<ResultObject> | ResultObject {
    if (exchange.method === LIST_TOOLS && this.#check) return this.#listChecked(exchange, this.#check);
    const isOwn = exchange.ownTool !== undefined && isGatewayToolCall(exchange);
    const canonical = isOwn ? undefined : this.#router.canonicalize(exchange);
    return canonical ? canonical.then(() => this.#chain(exchange)) : this.#chain(exchange);
  }

  get info(): Implementation {
    return this.#greetings.reduce(
      (found, greeting) => atOnce('greeting.info', greeting.info?.(found)) ?? found,
      this.#router.info,
    );
  }

  get instructions(): string | undefined {
    const { instructions } = this.#router;
    return this.#greetings.reduce(
      (found, one) => (one.instructions ? atOnce('greeting.instructions', one.instructions(found)) : found),
      instructions,
    );
  }

  greeting(client: ClientView): JsonObject | undefined {
    return this.#router.greeting(client);
  }

  setLevel(level: unknown, client: ClientView): Promise<void> | undefined {
    return this.#router.setLevel(level, client);
  }

  /** Servers may be replaced while this waits. */
  async ready(opening?: ClientOpening): Promise<void> {
    let router: Router | undefined;
    while (router !== this.#router) await (router = this.#router).ready(opening);
  }

  capabilities(client: ClientView): ServerCapabilities {
    const offered = this.#router.capabilities(client);
    return this.#greetings.reduce(
      (found, greeting) => atOnce('greeting.capabilities', greeting.capabilities?.(found, client)) ?? found,
      offered,
    );
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#router.inputSchema(nameBehind(this.#steps, 'tools', tool, this.#scope), client);
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.handle(new InternalExchange(SUBSCRIBE_RESOURCE, { uri }, client));
  }

  followTask(taskId: string, client: ClientView): Promise<void> {
    return this.#router.followTask(taskId, client);
  }

  /** Passes the steps like a request without an answer. */
  notify({ method, params = {} }: NotificationMessage, client: ClientView): void {
    this.#pass(new NotificationExchange(method, params, client)).catch((error: unknown) => {
      this.#options.log.warn({ method, error }, 'notification.failed');
    });
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    this.#watchers.set(listener, { watcher, unwatch: this.#watchRouter(listener, watcher) });
    return () => {
      this.#watchers.get(listener)?.unwatch();
      this.#watchers.delete(listener);
    };
  }

  #set(members: readonly Member[], steps: readonly Step[]): void {
    const router = new Router(members, this.#options, this.#router);
    this.#router = router;
    this.#steps = steps;
    this.#greetings = steps.flatMap(({ greeting }) => greeting ?? []).toReversed();
    const scope = (this.#scope = createScope());
    const last: Handle = (exchange) => {
      if (exchange.isNotification) return tell(router, exchange);
      return exchange.ownTool ? handleWithGatewayTool(exchange, exchange.ownTool, router) : router.handle(exchange);
    };
    const around: ChainOptions = {
      ownerOf: (exchange) => router.ownerOf(exchange),
      originOf: (area, name) => router.originOf(area, name),
      log: this.#options.log,
      events: this.#options.events,
      state: this.#options.state,
      scope,
      lineage: this.#lineage,
      again: (exchange) => (this.#scope === scope ? undefined : Promise.resolve(this.handle(exchange))),
    };
    this.#chain = createChain(steps, last, around);
    const hasRules = this.#options.isWhole === true && steps.some(({ toolRules }) => toolRules?.length);
    const rules = hasRules ? new RuleCheck(steps, { log: this.#options.log, reported: this.#reported }) : undefined;
    this.#check = rules && { rules, list: createChain(rules.steps, last, around) };
  }

  /** The first lists show whether rules match anything. Clients do not wait for the check. */
  async #listChecked(exchange: Exchange, check: ListCheck): Promise<ResultObject> {
    const router = this.#router;
    const result = await check.list(exchange);
    check.rules
      .finish(result, (area) => router.namesOf(area, exchange.client))
      .then(
        (isDone) => {
          if (isDone && this.#check === check) this.#check = undefined;
        },
        () => {}, // failed lists are reported elsewhere
      );
    return result;
  }

  async #pass(exchange: Exchange): Promise<void> {
    await this.#chain(exchange);
  }

  /** A change that a step cannot judge is hidden: it may name something that clients must not see. */
  #passChange(change: Change, originAfter: (place: number) => OriginOf): Change | undefined {
    try {
      return passChange(this.#steps, change, originAfter);
    } catch (error) {
      this.#options.log?.error({ error, kind: change.kind }, 'step.change-failed');
      return undefined;
    }
  }

  /** The steps see a change once, however many listeners it has. */
  #watchRouter(listener: (change: Change) => void, watcher: Watcher | undefined): () => void {
    const steps = this.#steps;
    const scope = this.#scope;
    const router = this.#router;
    const originAfter = (place: number): OriginOf =>
      originBehind(steps.slice(place), scope, (area, name) => router.originOf(area, name));
    return router.watch(
      (change) => {
        const told = this.#told.from(change, (one) => this.#passChange(one, originAfter));
        if (told) listener(told);
      },
      watcher && withSteps(watcher, steps),
    );
  }
}

function tell(router: Router, { method, params, client }: Exchange): JsonObject {
  router.notify(toNotification(method, Object.keys(params).length > 0 ? params : undefined), client);
  return {};
}

/** Passes questions that belong to no request through the steps. */
function withSteps(watcher: Watcher, steps: readonly Step[]): Watcher {
  const { client } = watcher;
  if (!watcher.ask) return watcher;
  return {
    ...watcher,
    client,
    ask: (ask, signal) => passAsk(steps, (last) => watcher.ask!(last, signal), client)(ask),
  };
}

class NotificationExchange extends InternalExchange {
  readonly isNotification = true;
}
