// The gateway connects clients in front with servers behind, and runs your steps between them. features/index.ts lists what it can do,
// pipeline.ts shows the way of a message, and gateway-parts.ts puts its parts together.
import type { CallToolResult, Transport } from '@modelcontextprotocol/client';
import type { ClientView } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import type { NodeReport } from '../kernel/nodes/nodes.ts';
import { toPlainObject } from '../kernel/raw/raw-object.ts';
import type { Target } from '../kernel/target.ts';
import type { EndpointOptions } from '../mcp/listen/http/endpoint-options.ts';
import type { HttpEndpoint } from '../mcp/listen/http/http-endpoint.ts';
import type { ListenOptions, ListeningWith } from '../mcp/listen/transport-listeners.ts';
import type { PairingCode } from '../people/trust/pairings.ts';
import { infoOf } from './complete-options.ts';
import type { ListedServerTools } from './features/status/shown-tools.ts';
import type { GatewayChanges, GatewayOptions } from './gateway-options.ts';
import { GatewayParts } from './gateway-parts.ts';
import { updateGateway } from './gateway-update.ts';
import { InternalCall } from './internal-call.ts';
import type { GatewayCallOptions } from './internal-call.ts';

export type { GatewayOptions } from './gateway-options.ts';

/**
 * Many servers behind one endpoint, with steps and rules that every message passes.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { filter, log } from 'mcp-parley/middleware';
 *
 * const gateway = createGateway({
 *   servers: { files: { command: 'npx', args: ['-y', 'some-server'] }, notes: 'http://127.0.0.1:3001/mcp' },
 *   steps: [log(), filter({ deny: ['delete_*'] })],
 * });
 * await gateway.listen({ port: 8470 });
 * ```
 */
export function createGateway(options: GatewayOptions): Gateway {
  return new Gateway(options);
}

export class Gateway {
  readonly #parts: GatewayParts;

  constructor(options: GatewayOptions) {
    this.#parts = new GatewayParts(options);
  }

  /**
   * Replaces servers, steps, groups, names, roots, `startMs`, `ask`, `auth` or options of features; omitted ones stay. A server keeps running whose
   * entry is the same object, or differs in `tools`, `rate` and `trustAnnotations` only; others are started, or stopped once their calls have ended.
   * Clients are notified that lists have changed. If one of the changes cannot be, it throws, and nothing has changed.
   */
  update(next: GatewayChanges): void {
    updateGateway(this.#parts, next);
  }

  /** The servers behind the gateway, with their states. */
  get servers(): { name: string; target: Target }[] {
    return [...this.#parts.members.list];
  }

  get groups(): Record<string, readonly string[]> {
    return this.#parts.settings.groups;
  }

  /** The gateways that serve as one with it, itself first; none if it is alone. */
  get nodes(): NodeReport[] {
    return this.#parts.options.nodes?.report() ?? [];
  }

  /** The listed tools of a server that the steps show to this client. */
  shownTools(listed: ListedServerTools, client: ClientView): Promise<JsonObject[]> {
    return this.#parts.shownTools(listed, client);
  }

  /** Calls a tool by its public name through the steps, as a client that cannot be asked. For flows whose steps need a tool. */
  async callTool(name: string, args: JsonObject = {}, options: GatewayCallOptions = {}): Promise<CallToolResult> {
    const call = new InternalCall(name, args, infoOf(this.#parts.options), options);
    return toPlainObject(await this.#parts.fronts.chain.handle(call)) as CallToolResult;
  }

  /** A code that pairs one browser, so that a person can approve there; with `user`, only what this user's clients call. */
  pair(user?: string): Promise<PairingCode & { link: string | undefined }> {
    return this.#parts.people.pair(user);
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    await this.#ready;
    return this.#parts.doors.listen(options);
  }

  async connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    await this.#ready;
    return this.#parts.doors.connect(transport);
  }

  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    return this.#parts.doors.endpoint(options);
  }

  /**
   * Finishes the calls of HTTP clients, for up to `limits.drainMs`, with `/readyz` saying that no new clients should come; then takes no more
   * connections. Call `close` afterwards, which answers calls that are left with an error.
   */
  async drain(): Promise<void> {
    await this.#parts.doors.drain();
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  get #ready(): Promise<unknown> {
    const { lifecycle, features } = this.#parts;
    return Promise.all([lifecycle.started, features.ready]);
  }
}
