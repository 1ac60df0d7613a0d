// The gateway: any clients in front, any servers behind, your steps between. `handle` is the journey of a message:
// it came through a transport (accept/), was read (codec/) and put into neutral words (dialect/); it passes the steps
// (middleware/), is given to the server that owns what it names (router/), and goes out in that server's words (upstream/).
// The answer comes back the same way.
import type { Implementation, ServerCapabilities, Transport } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../protocol/exchange.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { Step, StepFunction } from '../protocol/step.ts';
import type { Change, Target } from '../protocol/target.ts';
import { Doors } from './accept/doors.ts';
import type { ListenOptions } from './accept/doors.ts';
import type { EndpointOptions, HttpEndpoint } from './accept/http-endpoint.ts';
import type { HttpListenOptions, HttpListening } from './accept/listen-http.ts';
import type { StdioListening, StdioOptions } from './accept/stdio.ts';
import { createFront } from './dialect/front.ts';
import type { Front, FrontOptions } from './dialect/front.ts';
import { createChain } from './middleware/chain.ts';
import type { Last } from './middleware/chain.ts';
import { Router } from './router/router.ts';
import type { Member } from './router/member.ts';
import type { Naming } from './router/names.ts';
import type { Address } from './upstream/address.ts';
import { UpstreamTarget } from './upstream/upstream-target.ts';
import type { UpstreamTargetOptions } from './upstream/upstream-target.ts';

/** A server to reach, with how to reach it, or one that lives in this process. */
export type ServerEntry = Address | Target | ({ server: Address } & ServerSettings);

export type ServerSettings = Pick<UpstreamTargetOptions, 'share' | 'revision' | 'timeoutMs' | 'idleMs'> & {
  /** `eager`: connected at once. Default: when a client first needs it. */
  start?: 'lazy' | 'eager' | undefined;
};

export interface GatewayOptions extends FrontOptions, EndpointOptions {
  /** Who the gateway is. Default: mcp-parley; with a single server behind it, that server. */
  name?: string | undefined;
  version?: string | undefined;
  instructions?: string | undefined;
  servers: Record<string, ServerEntry>;
  /** Outermost first. */
  steps?: (Step | StepFunction)[] | undefined;
  names?: Naming | undefined;
  startMs?: number | undefined;
}

export function createGateway(options: GatewayOptions): Gateway {
  return new Gateway(options);
}

export class Gateway implements Target {
  readonly #options: GatewayOptions;
  readonly #members: Member[];
  readonly #router: Router;
  readonly #steps: Step[];
  readonly #chain: Last;
  readonly #front: Front;
  readonly #doors: Doors;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#steps = (options.steps ?? []).map(toStep);
    this.#front = createFront(this, options);
    this.#doors = new Doors(this.#front, options);
    const { log, clock, sealer } = this.#front;
    this.#members = Object.entries(options.servers).map(([name, entry]) => this.#toMember(name, entry));
    const { instructions, names: naming, startMs } = options;
    this.#router = new Router(this.#members, { info: this.info, log, clock, sealer, instructions, naming, startMs });
    this.#chain = createChain(this.#steps, (exchange) => this.#router.handle(exchange));
  }

  handle(exchange: Exchange): Promise<JsonObject> | JsonObject {
    return this.#chain(exchange);
  }

  get info(): Implementation {
    const { name = 'mcp-parley', version = '0' } = this.#options;
    return { name, version };
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

  watch(listener: (change: Change) => void): () => void {
    return this.#router.watch((change) => {
      let told: Change | undefined = change;
      for (const step of this.#steps.toReversed()) if (told && step.onChange) told = step.onChange(told);
      if (told) listener(told);
    });
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#router.inputSchema(tool, client);
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  listen(options: { stdio: true } & StdioOptions): Promise<StdioListening>;
  listen(options: HttpListenOptions): Promise<HttpListening>;
  listen(options: ListenOptions): Promise<StdioListening | HttpListening> {
    return this.#doors.listen(options);
  }

  connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    return this.#doors.connect(transport);
  }

  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    return this.#doors.endpoint(options);
  }

  async close(): Promise<void> {
    await this.#doors.close();
    await Promise.all(
      this.#members.map(({ target }) => (target instanceof UpstreamTarget ? target.close() : undefined)),
    );
  }

  #toMember(name: string, entry: ServerEntry): Member {
    if (isTarget(entry)) return { name, target: entry };
    const { server, start, ...settings } = isSettings(entry) ? entry : { server: entry, start: undefined };
    const { log, clock } = this.#front;
    const target = new UpstreamTarget({
      name,
      address: server,
      client: this.info,
      limits: this.#options.limits,
      log,
      clock,
      ...settings,
    });
    if (start === 'eager') void target.ready();
    return { name, target };
  }
}

function toStep(step: Step | StepFunction, index: number): Step {
  return typeof step === 'function' ? { name: step.name || `steps[${index}]`, handle: step } : step;
}

function isTarget(entry: ServerEntry): entry is Target {
  return typeof entry === 'object' && 'handle' in entry && 'watch' in entry;
}

function isSettings(
  entry: Address | ({ server: Address } & ServerSettings),
): entry is { server: Address } & ServerSettings {
  return typeof entry === 'object' && 'server' in entry;
}
