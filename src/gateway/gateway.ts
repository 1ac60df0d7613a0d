// The gateway connects clients in front with servers behind, and runs your steps between them. features/index.ts lists what it can do, and
// pipeline.ts shows the way of a message.
import type { CallToolResult, Transport } from '@modelcontextprotocol/client';
import { GatewayError } from '../kernel/base/errors.ts';
import type { ClientView } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { toPlainObject } from '../kernel/raw/raw-object.ts';
import { EventHub } from '../kernel/events/event-hub.ts';
import type { Step } from '../kernel/step.ts';
import type { Layer, OpenPages, Target } from '../kernel/target.ts';
import type { EndpointOptions } from '../mcp/listen/http/endpoint-options.ts';
import type { HttpEndpoint } from '../mcp/listen/http/http-endpoint.ts';
import type { AuthOptions } from '../mcp/listen/auth/auth-options.ts';
import type { LiveLogin } from '../mcp/listen/live-login.ts';
import type { ListenOptions, ListeningWith } from '../mcp/listen/transport-listeners.ts';
import { HumanChannel } from '../people/human-channel.ts';
import type { PairingCode } from '../people/trust/pairings.ts';
import { withInnermost } from './chain/chain.ts';
import { StepLifecycle } from './chain/lifecycle/step-lifecycle.ts';
import { toStep } from './chain/to-step.ts';
import { completeOptions, infoOf, toLogin } from './complete-options.ts';
import type { CompleteOptions, GatewayChanges, GatewayOptions } from './gateway-options.ts';
import { Doors } from './doors.ts';
import { EventsLayer } from './events-layer.ts';
import { FeatureSet } from './feature-set.ts';
import type { Checkpoint, GatewayView } from './features/feature.ts';
import { shownTools } from './features/status/shown-tools.ts';
import type { ListedServerTools } from './features/status/shown-tools.ts';
import { Fronts } from './fronts.ts';
import type { Behind } from './fronts.ts';
import { InternalCall } from './internal-call.ts';
import type { GatewayCallOptions } from './internal-call.ts';
import { Members } from './members.ts';
import { openMember } from './open-member.ts';
import type { Member } from './router/member.ts';
import type { NamingRules } from './router/public-names.ts';

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
  readonly #options: CompleteOptions;
  readonly #login: LiveLogin | undefined;
  readonly #people: HumanChannel;
  readonly #features: FeatureSet;
  readonly #lifecycle: StepLifecycle;
  readonly #members: Members;
  readonly #names: NamingRules;
  readonly #fronts: Fronts;
  readonly #doors: Doors;
  #groups: Record<string, string[]>;
  #startMs: number | undefined;
  /** Of the options. */
  #steps: Step[];
  /** Of features; they run after all other steps. */
  #innermost: Step[];

  constructor(given: GatewayOptions) {
    const options = (this.#options = completeOptions(given));
    const { log, clock, sealer, state, nodes } = options;
    const events = new EventHub({ log, clock });
    this.#names = { naming: options.names ?? 'always', servers: Object.keys(options.servers) };
    this.#groups = options.groups ?? {};
    this.#startMs = options.startMs;
    const login = (this.#login = toLogin(options, {
      base: () => this.#people.pageEndpoint.address(),
      events,
    }));
    const asking = { log, clock, sealer, state, login, events, nodes };
    this.#people = new HumanChannel({ ...options, besides: () => this.#openPages() }, asking);
    this.#features = new FeatureSet(options, {
      ...asking,
      limits: options.limits,
      people: this.#people,
      gateway: this.#view,
    });
    this.#lifecycle = new StepLifecycle({ log, clock });
    this.#steps = (options.steps ?? []).map(toStep);
    this.#lifecycle.replace(this.#steps);
    const around = { info: infoOf(options), options, people: this.#people, features: this.#features };
    this.#members = new Members({
      open: (name, entry) => openMember(name, entry, around),
      isLiveSetting: (name) => this.#features.isLiveSetting(name),
    });
    this.#members.set(options.servers);
    this.#innermost = this.#features.stepsFor(this.#members.list);
    const observed: Layer = (next) => new EventsLayer(next, events);
    const layers = [observed, ...this.#features.layers];
    const startMs = () => this.#startMs;
    const behind = { info: around.info, names: this.#names, layers, startMs, events };
    this.#fronts = new Fronts(this.#behind, options, behind);
    const inside = { fronts: this.#fronts, login, people: this.#people, features: this.#features };
    this.#doors = new Doors(options, { ...inside, openPages: () => this.#openPages() });
  }

  /**
   * Replaces servers, steps, groups, names, roots, `startMs` or options of features; omitted ones stay. A server keeps running whose entry is the
   * same object, or differs in `tools`, `rate` and `trustAnnotations` only; others are started, or stopped once their calls have ended. Clients are notified that lists have changed. If one of them cannot
   * be, it throws, and nothing has changed.
   */
  update(next: GatewayChanges): void {
    const steps = next.steps?.map(toStep) ?? this.#steps;
    const before = this.#checkpoint();
    let gone: readonly Member[];
    let behind: Behind;
    try {
      gone = this.#change(next);
      behind = this.#behindOf(steps);
      if (next.steps) this.#lifecycle.replace(steps); // last: a step that was closed cannot be started again
    } catch (thrown) {
      before.undo();
      throw thrown;
    }
    this.#steps = steps;
    before.keep?.();
    this.#fronts.replace(behind);
    if (next.roots) this.#members.tellRootsChanged(gone);
    this.#members.retire(gone);
  }

  /** The servers behind the gateway, with their states. */
  get servers(): { name: string; target: Target }[] {
    return [...this.#members.list];
  }

  get groups(): Record<string, readonly string[]> {
    return this.#groups;
  }

  /** The listed tools of a server that the steps show to this client. */
  shownTools(listed: ListedServerTools, client: ClientView): Promise<JsonObject[]> {
    const { steps } = this.#behind;
    return shownTools(listed, client, { steps, servers: this.#names.servers, log: this.#options.log });
  }

  /** Calls a tool by its public name through the steps, as a client that cannot be asked. For flows whose steps need a tool. */
  async callTool(name: string, args: JsonObject = {}, options: GatewayCallOptions = {}): Promise<CallToolResult> {
    const call = new InternalCall(name, args, infoOf(this.#options), options);
    return toPlainObject(await this.#fronts.chain.handle(call)) as CallToolResult;
  }

  /** A code that pairs one browser, so that a person can approve there; with `user`, only what this user's clients call. */
  pair(user?: string): Promise<PairingCode & { link: string | undefined }> {
    return this.#people.pair(user);
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    await this.#ready;
    return this.#doors.listen(options);
  }

  async connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    await this.#ready;
    return this.#doors.connect(transport);
  }

  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    return this.#doors.endpoint(options);
  }

  /**
   * Finishes the calls of HTTP clients, for up to `limits.drainMs`, with `/readyz` saying that no new clients should come; then takes no more
   * connections. Call `close` afterwards, which answers calls that are left with an error.
   */
  async drain(): Promise<void> {
    await this.#doors.drain();
  }

  async close(): Promise<void> {
    await this.#doors.close();
    await this.#people.close();
    this.#features.close();
    this.#login?.close();
    await this.#members.close();
    await this.#lifecycle.close();
  }

  get #ready(): Promise<unknown> {
    return Promise.all([this.#lifecycle.started, this.#features.ready]);
  }

  /** What an update may change before it is refused. */
  #checkpoint(): Checkpoint {
    const [groups, startMs, names, innermost] = [this.#groups, this.#startMs, { ...this.#names }, this.#innermost];
    const parts: Checkpoint[] = [
      this.#people,
      this.#members,
      this.#features,
      ...(this.#login ? [this.#login] : []),
    ].map((part) => part.checkpoint());
    return {
      undo: () => {
        [this.#groups, this.#startMs, this.#innermost] = [groups, startMs, innermost];
        Object.assign(this.#names, names);
        for (const part of parts) part.undo();
      },
      keep: () => {
        for (const part of parts) part.keep?.();
      },
    };
  }

  /** All but the steps of the options. Returns the servers that are gone. */
  #change(next: GatewayChanges): readonly Member[] {
    if (next.roots) this.#people.roots?.set(next.roots);
    if ('ask' in next) this.#people.replaceAsk(next.ask);
    if ('auth' in next) this.#replaceAuth(next.auth);
    if (next.groups) this.#groups = next.groups;
    if (next.names) this.#names.naming = next.names;
    if ('startMs' in next) this.#startMs = next.startMs;
    if (next.servers) this.#names.servers = Object.keys(next.servers);
    const changed = this.#features.update(next);
    const again = changed.has('servers');
    const gone = next.servers || again ? this.#members.set(next.servers ?? this.#members.entries, { again }) : [];
    if (next.servers || changed.size > 0) this.#innermost = this.#features.stepsFor(this.#members.list);
    return gone;
  }

  #replaceAuth(auth: AuthOptions | undefined): void {
    if (!this.#login) {
      if (auth)
        throw new GatewayError('BAD_OPTION', {
          option: 'auth',
          reason: 'a gateway asks for a login from its start on, or never',
        });
      return;
    }
    this.#login.replace(auth);
    this.#doors.checkLogin();
  }

  get #behind(): Behind {
    return this.#behindOf(this.#steps);
  }

  /** `steps`: those of the options. */
  #behindOf(steps: Step[]): Behind {
    const members = this.#features.wrap(this.#members.list);
    return { members, steps: withInnermost(steps, this.#innermost), groups: this.#groups };
  }

  #openPages(): OpenPages['pages'] {
    return { ...this.#members.openPages(this.#people.pageEndpoint.host), ...this.#features.openPages };
  }

  /** What features see of it. */
  get #view(): GatewayView {
    const [members, names, fronts, people] = [() => this.#members, this.#names, () => this.#fronts, () => this.#people];
    const doors = (): Doors => this.#doors;
    const features = (): FeatureSet => this.#features;
    return {
      get members() {
        return members().list;
      },
      get servers() {
        return names.servers;
      },
      get parked() {
        return fronts().parked + people().waiting;
      },
      get metrics() {
        return features().metrics;
      },
      get isStopping() {
        return doors().isStopping;
      },
      shownTools: (listed, client) => this.shownTools(listed, client),
    };
  }
}
