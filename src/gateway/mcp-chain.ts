// The three parts of a gateway under the names of the mcp-chain reference, for programs that combine them by hand:
//
//   new FrontMCPServer(new MiddlewareMCPServer(new ExternalMCPServer({ command, args }), [step]))
//
// Each is the part that `createGateway` is made of, with a shorter constructor; messages take the same way. Closing a part
// closes the ones behind it.
import type { Transport } from '@modelcontextprotocol/client';
import type { Step, StepFunction } from '../kernel/step.ts';
import type { Target } from '../kernel/target.ts';
import { systemClock } from '../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import { toSafeLog } from '../kernel/base/log.ts';
import { createSealer } from '../kernel/crypto/seal.ts';
import { refuseShort } from '../kernel/crypto/state-keys.ts';
import { version } from '../kernel/version.ts';
import { TransportListeners } from '../mcp/listen/transport-listeners.ts';
import type { ListenOptions, ListeningWith } from '../mcp/listen/transport-listeners.ts';
import type { EndpointOptions } from '../mcp/listen/http/endpoint-options.ts';
import type { HttpEndpoint } from '../mcp/listen/http/http-endpoint.ts';
import { createServeContext } from '../mcp/eras/serve/serve-context.ts';
import type { ServeContextOptions } from '../mcp/eras/serve/serve-context.ts';
import { FlowLayer } from './features/flow/flow-layer.ts';
import { StepLifecycle } from './chain/lifecycle/step-lifecycle.ts';
import { toStep } from './chain/to-step.ts';
import type { Address } from '../mcp/connect/address.ts';
import { guardTarget } from './servers/guarded-target.ts';
import { UpstreamTarget } from './servers/upstream-target.ts';
import type { UpstreamTargetOptions } from './servers/target-options.ts';
import { createPipeline } from './pipeline.ts';
import { RoutedChain } from './routed-chain.ts';

/** The next part of the chain: another part, a server of `createServer`, or a target of your own. */
type Behind = Target & { readonly name?: string; close?(): Promise<void> };

/**
 * The client’s side: handshake, protocol state, JSON-RPC, errors.
 *
 * @example
 * ```ts
 * import { ExternalMCPServer, FrontMCPServer, MiddlewareMCPServer } from 'mcp-parley';
 * import { log } from 'mcp-parley/middleware';
 *
 * const external = new ExternalMCPServer({ command: 'uvx', args: ['mcp-server-git'] });
 * const front = new FrontMCPServer(new MiddlewareMCPServer(external, [log()]));
 * await front.listen({ stdio: true });
 * ```
 */
export class FrontMCPServer {
  readonly #behind: Behind;
  readonly #listeners: TransportListeners;

  constructor(behind: Behind, options: ServeContextOptions & EndpointOptions = {}) {
    this.#behind = behind;
    const { clock = systemClock, limits } = options;
    const log = toSafeLog(options.log);
    const playing = { clock, log, limits: { ...DEFAULT_LIMITS, ...limits }, onlyForSteps: true };
    const guarded = guardTarget(behind, behind.name ?? 'server', log);
    const pipeline = createPipeline(guarded, { flows: (next) => new FlowLayer(next, playing) });
    this.#listeners = new TransportListeners(createServeContext(pipeline, options), options);
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    return this.#listeners.listen(options);
  }

  connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    return this.#listeners.connect(transport);
  }

  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    return this.#listeners.endpoint(options);
  }

  async close(): Promise<void> {
    await this.#listeners.close();
    await this.#behind.close?.();
  }
}

/** Runs steps before one server; they may change requests, answers and lists. Several can follow each other. */
export class MiddlewareMCPServer extends RoutedChain {
  readonly #behind: Behind;
  readonly #lifecycle: StepLifecycle;

  /** `steps`: outermost first. */
  constructor(
    behind: Behind,
    steps: (Step | StepFunction)[],
    options: Pick<ServeContextOptions, 'log' | 'clock' | 'keys'> = {},
  ) {
    const { clock = systemClock, keys } = options;
    const log = toSafeLog(options.log);
    refuseShort(keys);
    const name = behind.name ?? behind.info.name;
    const member = { name, opening: behind, target: guardTarget(behind, name, log) };
    const made = steps.map(toStep);
    super([member], made, {
      info: behind.info,
      names: { naming: 'always', servers: [member.name] },
      sealer: createSealer(keys),
      log,
      clock,
    });
    this.#behind = behind;
    this.#lifecycle = new StepLifecycle({ log, clock });
    this.#lifecycle.replace(made);
  }

  async close(): Promise<void> {
    await this.#behind.close?.();
    await this.#lifecycle.close();
  }
}

/** The server at the end of the chain: a command, a URL, or a Transport. It starts on demand, and again after a loss. */
export class ExternalMCPServer extends UpstreamTarget {
  constructor(address: Address, options: Partial<Omit<UpstreamTargetOptions, 'address'>> = {}) {
    super({ name: 'external', client: { name: 'mcp-parley', version: version() }, ...options, address });
  }
}
