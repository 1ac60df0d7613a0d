// The server behind `parley wrap`, under its own name, version and instructions. While it is not ready, clients get an error that explains
// why, instead of an empty server.
import { isSameEra } from '../../../mcp/eras/revisions.ts';
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { UpstreamTarget } from '../../../gateway/servers/upstream-target.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import { TargetLayer } from '../../../kernel/target.ts';
import type { ClientOpening } from '../../../kernel/target.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';
import { withoutHidden } from '../../../kernel/text/hidden.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';

interface WrappedServerOptions {
  target: UpstreamTarget;
  /** How long a client may wait for the server. */
  startMs: number;
  /** Explains why the server is not ready and what to do. `reason` is undefined while it is starting. */
  explain(reason: string | undefined): string;
  /** Called for the first client of each revision, once the server is known. */
  onMeet(client: ClientView): void;
  onFailure(explanation: string): void;
}

const INTERNAL_ERROR = -32603;
const LEFT_EARLY = 'Parley was ended while the server was starting.';

export class WrappedServer extends TargetLayer {
  readonly #options: WrappedServerOptions;
  readonly #target: UpstreamTarget;
  readonly #met = new Set<string>();
  #last: ClientView | undefined;
  #isLeaving = false;
  #told: string | undefined;

  constructor(options: WrappedServerOptions) {
    super(options.target);
    this.#options = options;
    this.#target = options.target;
  }

  /** A client asked for the server while it was not ready. */
  get hasFailed(): boolean {
    return this.#told !== undefined;
  }

  /** Resolves when the server is ready, has failed, or takes too long. */
  override async ready(opening?: ClientOpening): Promise<void> {
    await settledWithin(this.#target.ready(opening), this.#options.startMs);
    const problem = this.#problem();
    if (problem === LEFT_EARLY) return;
    if (problem !== undefined && problem !== this.#told) this.#options.onFailure(problem);
    this.#told = problem;
  }

  /** Parley is shutting down, so a server that is still starting has not failed. */
  leave(): void {
    this.#isLeaving = true;
  }

  override capabilities(client: ClientView): ServerCapabilities {
    const problem = this.#problem();
    if (problem !== undefined) {
      void this.#target.ready(client); // the next request may succeed
      throw new ProtocolError(INTERNAL_ERROR, problem);
    }
    this.#meet(client);
    return this.#target.capabilities(client);
  }

  override get instructions(): string | undefined {
    const { instructions } = this.#target;
    return instructions && withoutHidden(instructions);
  }

  override handle(exchange: Exchange): Promise<ResultObject> {
    if (exchange.client !== this.#last) this.#meet(exchange.client);
    return this.#target.handle(exchange);
  }

  /** What is known of a server stays valid while it is away. */
  #problem(): string | undefined {
    const { server, failure } = this.#target.status;
    if (server) return undefined;
    return this.#isLeaving && failure === undefined ? LEFT_EARLY : this.#options.explain(failure);
  }

  #meet(client: ClientView): void {
    const last = this.#last;
    // Without a session every request is a client of its own.
    if (last?.revision === client.revision && isSameEra(last.dialect, client.dialect)) return;
    if (!this.#target.status.server) return;
    this.#last = client;
    const key = `${client.dialect} ${client.revision}`;
    if (this.#met.has(key)) return;
    this.#met.add(key);
    this.#options.onMeet(client);
  }
}
