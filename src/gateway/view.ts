// Some of the servers as one target: all of them for /mcp, one or a group for /mcp/<name>. `handle` is the journey of a
// message: it came through a transport (accept/), was read (codec/) and put into neutral words (dialect/); it passes the
// steps (middleware/), is given to the server that owns what it names (router/), and goes out in that server's words
// (upstream/). The answer comes back the same way.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../protocol/exchange.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { Step } from '../protocol/step.ts';
import type { Change, Target } from '../protocol/target.ts';
import { createChain } from './middleware/chain.ts';
import type { Last } from './middleware/chain.ts';
import type { Member } from './router/member.ts';
import { Router } from './router/router.ts';
import type { RouterOptions } from './router/router.ts';

export class View implements Target {
  readonly #steps: readonly Step[];
  readonly #router: Router;
  readonly #chain: Last;

  constructor(members: readonly Member[], steps: readonly Step[], options: RouterOptions) {
    this.#steps = steps;
    this.#router = new Router(members, options);
    this.#chain = createChain(steps, (exchange) => this.#router.handle(exchange));
  }

  handle(exchange: Exchange): Promise<JsonObject> | JsonObject {
    return this.#chain(exchange);
  }

  get info(): Implementation {
    return this.#router.info;
  }

  get instructions(): string | undefined {
    return this.#router.instructions;
  }

  ready(): Promise<void> {
    return this.#router.ready();
  }

  capabilities(client: ClientView): ServerCapabilities {
    return this.#router.capabilities(client);
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#router.inputSchema(tool, client);
  }

  /** Changes travel back like answers: the innermost step hears of them first. */
  watch(listener: (change: Change) => void): () => void {
    return this.#router.watch((change) => {
      let told: Change | undefined = change;
      for (const step of this.#steps.toReversed()) if (told && step.onChange) told = step.onChange(told);
      if (told) listener(told);
    });
  }
}
