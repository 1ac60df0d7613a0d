// The gateway connects clients in front with servers behind, and runs your steps between them. This file manages the servers and
// listeners; pipeline.ts shows the way of a message.
import type { CallToolResult, Implementation, Transport } from '@modelcontextprotocol/client';
import type { ClientView } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { toPlainObject } from '../kernel/raw/raw-object.ts';
import type { Step, StepFunction } from '../kernel/step.ts';
import type { OpenPages, Target } from '../kernel/target.ts';
import { systemClock } from '../kernel/base/clock.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { randomId } from '../kernel/crypto/ids.ts';
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import { toSafeLog } from '../kernel/base/log.ts';
import { createSealer } from '../kernel/crypto/seal.ts';
import { keysFrom } from '../kernel/crypto/state-keys.ts';
import { version as ownVersion } from '../kernel/version.ts';
import { TransportListeners } from '../mcp/listen/transport-listeners.ts';
import type { ListenOptions, ListeningWith } from '../mcp/listen/transport-listeners.ts';
import { isLocalRequest, isLoopback } from '../mcp/listen/guard.ts';
import { createLogin } from '../mcp/listen/login.ts';
import type { Login } from '../mcp/listen/login.ts';
import type { AuthOptions } from '../mcp/listen/auth/auth-options.ts';
import { splitPages } from '../mcp/listen/http/page-access.ts';
import type { EndpointOptions, HttpEndpoint } from '../mcp/listen/http/http-endpoint.ts';
import type { HttpListenOptions, HttpListening } from '../mcp/listen/http/listen-http.ts';
import { AuditLayer } from './features/audit/audit-layer.ts';
import { HumanChannel } from '../people/human-channel.ts';
import type { HumanChannelOptions } from '../people/human-channel.ts';
import type { RootOption } from '../people/configured-roots.ts';
import type { PairingCode } from '../people/trust/pairings.ts';
import { createServeContext } from '../mcp/eras/serve/serve-context.ts';
import type { ServeContext, ServeContextOptions } from '../mcp/eras/serve/serve-context.ts';
import { ServerChecks } from './features/list-checks/server-checks.ts';
import type { PinOption } from './features/pins/pin-policy.ts';
import { FlowLayer } from './features/flow/flow-layer.ts';
import { StepLifecycle } from './chain/lifecycle/step-lifecycle.ts';
import { GatewayRules, withRules } from './features/rules/gateway-rules.ts';
import type { RuleOptions } from './features/rules/rule.ts';
import { loadFrontPages } from '../people/load-front-pages.ts';
import { onlyListed } from './features/filter/server-rules.ts';
import { neededScopesOf, requireScopes } from './features/filter/require-scopes.ts';
import { toStep } from './chain/to-step.ts';
import { serverFamilies } from './features/observe/vitals.ts';
import { Observer } from './features/observe/observer.ts';
import type { GatewayState, ObserveOptions } from './features/observe/observer.ts';
import { InternalCall } from './internal-call.ts';
import type { GatewayCallOptions } from './internal-call.ts';
import type { Member } from './router/member.ts';
import { PublicIds } from './router/public-ids.ts';
import type { NamingMode, NamingRules } from './router/public-names.ts';
import { shownTools } from './features/status/shown-tools.ts';
import type { ListedServerTools } from './features/status/shown-tools.ts';
import type { Account, LoginTarget, Credentials } from '../mcp/connect/accounts/login-to.ts';
import type { ServerLogin } from '../mcp/connect/accounts/server-login.ts';
import { AccountLogins } from './features/accounts/account-logins.ts';
import { UpstreamTarget } from './servers/upstream-target.ts';
import { isServerTarget } from './servers/target-options.ts';
import type { ServerTarget } from './servers/target-options.ts';
import { AccountTarget } from './features/accounts/account-target.ts';
import type { CommandAddress } from '../mcp/connect/address.ts';
import { createPipeline } from './pipeline.ts';
import { believedOf, hasToolRates, isSettings, isTarget, serverRulesOf } from './server-entry.ts';
import type { ConfiguredServer, ServerEntry, ServerSettings } from './server-entry.ts';
import { noteSandbox } from '../mcp/connect/sandbox/fixed-paths.ts';
import { RateLimits } from './features/rate/rate-limits.ts';
import type { RateOptions } from './features/rate/rate-limits.ts';
import { RoutedChain } from './routed-chain.ts';

export interface GatewayOptions extends ServeContextOptions, EndpointOptions, HumanChannelOptions {
  /** The gateway's name. Default: mcp-parley, or the name of the only server behind it. */
  name?: string | undefined;
  /** Default: the version of this package. */
  version?: string | undefined;
  instructions?: string | undefined;
  servers: Record<string, ServerEntry>;
  /** Outermost first. */
  steps?: (Step | StepFunction)[] | undefined;
  /** What clients may use, judged for each request: the first rule that matches decides. */
  rules?: readonly RuleOptions[] | undefined;
  /** How often callers may call. Default: as often as they like. */
  rate?: RateOptions | undefined;
  /**
   * What happens when a server changes a definition after it was first seen. Default: `destructive` if there is a `stateFolder` to
   * keep pins in, else `off`.
   */
  pins?: PinOption | undefined;
  /** Servers that are served together at /mcp/<group>. */
  groups?: Record<string, string[]> | undefined;
  /** How tools and prompts of several servers are named. Default: `always`, every name starts with its server. */
  names?: NamingMode | undefined;
  /** How long a client may wait for servers that start or are slow to list what they offer; default 10 s. */
  startMs?: number | undefined;
  /** False: servers with `start: "eager"` also wait for the first client. */
  startsEager?: boolean | undefined;
  /** Who may call: API keys, and tokens of issuers. Default: everybody, on loopback; `identify` does it in code. */
  auth?: AuthOptions | undefined;
  /** How clients share connections, unless the server's settings say otherwise. */
  share?: ServerSettings['share'];
  /** The login at a server, if not only for the life of this process; called once for each server with HTTP. */
  loginFor?: ((server: LoginTarget) => ServerLogin | undefined) | undefined;
  /** Called each time before the command of a server is started. Throws if it must not be. */
  checkStart?: ((address: CommandAddress) => void) | undefined;
  /** Headers for the requests of a user to a server. Servers with HTTP have an account for each user then. */
  credentials?: Credentials | undefined;
  /** What `audit` gets of the arguments of a call. Default: their names, types and sizes. */
  auditArguments?: ((given: unknown) => unknown) | undefined;
  /** Counters and spans; /healthz and /readyz are always served. */
  observe?: ObserveOptions | undefined;
}

export function createGateway(options: GatewayOptions): Gateway {
  return new Gateway(options);
}

export class Gateway {
  readonly #options: GatewayOptions & Pick<ServeContext, 'log' | 'clock' | 'sealer'>;
  readonly #observer: Observer;
  readonly #humans: HumanChannel;
  readonly #front: ServeContext;
  readonly #listeners: TransportListeners;
  readonly #login: Login | undefined;
  readonly #names: NamingRules;
  readonly #accounts: AccountLogins;
  readonly #ids: { taskIds: PublicIds; sessionIds: PublicIds };
  readonly #whole: RoutedChain;
  readonly #parts = new Map<string, { chain: RoutedChain; front: ServeContext }>();
  readonly #checks: ServerChecks;
  /** Replaced servers that still finish calls. */
  readonly #retiring = new Set<ServerTarget>();
  readonly #lifecycle: StepLifecycle;
  readonly #ruling = new GatewayRules();
  readonly #rates: RateLimits;
  #steps: Step[];
  /** The rules, and those of the servers' settings; they run after all other steps. */
  #rules: Step[];
  #members: Member[];
  #groups: Record<string, string[]>;

  constructor(options: GatewayOptions) {
    const { clock = systemClock, id = randomId() } = options;
    const log = toSafeLog(options.log);
    const sealer = options.sealer ?? createSealer(keysFrom(options, log));
    this.#options = { ...options, log, clock, sealer, id };
    this.#rates = new RateLimits(options.rate, clock);
    this.#observer = new Observer(options.observe ?? {}, () => this.#observed);
    this.#login = createLogin(options, {
      log,
      clock,
      audit: options.audit,
      loadFrontPages,
      visitors: { sealer, base: () => this.#humans.pageEndpoint.address() },
      neededScopes: neededScopesOf(options.auth?.toolScopes),
    });
    const asking = { log, clock, sealer, login: this.#login, audit: options.audit };
    this.#humans = new HumanChannel({ ...options, besides: () => this.#openPages() }, asking);
    this.#accounts = new AccountLogins(options, { ...asking, host: () => this.#humans.pageEndpoint.host });
    this.#checks = new ServerChecks(options);
    this.#lifecycle = new StepLifecycle({ log, clock });
    this.#steps = this.#live(options.steps ?? []);
    this.#names = { naming: options.names ?? 'always', servers: Object.keys(options.servers) };
    this.#ids = { taskIds: new PublicIds(sealer, 'task'), sessionIds: new PublicIds(sealer, 'session') };
    this.#groups = options.groups ?? {};
    this.#members = Object.entries(options.servers).map(([name, entry]) => this.#toMember(name, entry));
    this.#ruling.rules = options.rules ?? [];
    this.#rules = this.#rulesOf(this.#members);
    this.#whole = this.#chainOf(this.#members, true);
    this.#front = this.#frontOf(this.#whole);
    this.#listeners = new TransportListeners(this.#front, {
      ...options,
      ...(this.#login && { login: this.#login, identify: this.#login.identify }),
      part: (name) => this.#part(name).front,
    });
  }

  /**
   * Replaces servers, steps, rules, groups, names or roots; omitted ones stay. A server whose entry is the same object keeps running;
   * others are started, or stopped once their calls have ended. Clients are notified that lists have changed.
   */
  update(next: Partial<Pick<GatewayOptions, 'servers' | 'steps' | 'rules' | 'groups' | 'names' | 'roots'>>): void {
    if (next.steps) this.#steps = this.#live(next.steps); // first: a step that fails to start changes nothing
    if (next.roots) this.#setRoots(next.roots);
    const previous = this.#members;
    const kept = new Map(previous.map((member) => [member.name, member]));
    if (next.groups) this.#groups = next.groups;
    if (next.names) this.#names.naming = next.names;
    if (next.rules) this.#ruling.rules = next.rules;
    if (next.servers) {
      this.#names.servers = Object.keys(next.servers);
      this.#members = Object.entries(next.servers).map(([name, entry]) => {
        const known = kept.get(name);
        return known?.entry === entry ? known : this.#toMember(name, entry);
      });
    }
    if (next.servers || next.rules) this.#rules = this.#rulesOf(this.#members);
    const steps = this.#chained;
    this.#whole.replace(this.#seen(this.#members), steps);
    for (const [name, { chain }] of this.#parts) chain.replace(this.#seen(this.#membersOf(name)), steps);
    const gone = previous.filter((member) => !this.#members.includes(member));
    for (const { target } of gone) if (isServerTarget(target)) this.#retire(target);
  }

  /** The servers behind the gateway, with their states. */
  get servers(): { name: string; target: Target }[] {
    return [...this.#members];
  }

  get groups(): Record<string, readonly string[]> {
    return this.#groups;
  }

  /** The listed tools of a server that the steps show to this client. */
  shownTools(listed: ListedServerTools, client: ClientView): Promise<JsonObject[]> {
    return shownTools(listed, client, { steps: this.#chained, servers: this.#names.servers, log: this.#options.log });
  }

  /** Calls a tool by its public name through the steps, as a client that cannot be asked. For flows whose steps need a tool. */
  async callTool(name: string, args: JsonObject = {}, options: GatewayCallOptions = {}): Promise<CallToolResult> {
    const call = new InternalCall(name, args, this.#info, options);
    return toPlainObject(await this.#whole.handle(call)) as CallToolResult;
  }

  /** A code that pairs one browser, so that a person can approve there; with `user`, only what this user's clients call. */
  pair(user?: string): Promise<PairingCode & { link: string | undefined }> {
    return this.#humans.pair(user);
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    await this.#started;
    return (
      'stdio' in options ? await this.#listeners.listen(options) : await this.#listen(options)
    ) as ListeningWith<O>;
  }

  async #listen(options: HttpListenOptions): Promise<HttpListening> {
    const host = options.host ?? this.#options.host ?? '127.0.0.1';
    const listening = await this.#listeners.listen({ ...options, ...this.#pages(options, isLoopback(host)) });
    this.#humans.pageEndpoint.opened(host, listening.url);
    return listening;
  }

  async connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    await this.#started;
    return this.#listeners.connect(transport);
  }

  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    this.#humans.pageEndpoint.embedded();
    return this.#listeners.endpoint({ ...options, ...this.#pages(options, false) });
  }

  async close(): Promise<void> {
    await this.#listeners.close();
    await this.#humans.close();
    this.#accounts.close();
    this.#checks.close();
    this.#login?.close();
    const targets = [...this.#members.map(({ target }) => target), ...this.#retiring];
    await Promise.all(targets.map(async (target) => isServerTarget(target) && target.close()));
    await this.#lifecycle.close();
  }

  get #started(): Promise<unknown> {
    return Promise.all([this.#lifecycle.started, this.#ruling.ready]);
  }

  /** Requests that were already routed to this target may still arrive. */
  #retire(target: ServerTarget): void {
    this.#retiring.add(target);
    void target.retire().then(() => this.#retiring.delete(target));
  }

  #live(given: (Step | StepFunction)[]): Step[] {
    const steps = given.map(toStep);
    this.#lifecycle.replace(steps);
    return steps;
  }

  #setRoots(roots: readonly RootOption[]): void {
    this.#humans.roots?.set(roots);
    for (const { target } of this.#members) if (isServerTarget(target)) target.tellRootsChanged();
  }

  #seen(members: readonly Member[]): Member[] {
    return members.map((member) => this.#observer.member(this.#rates.member(member)));
  }

  #pages({ pages }: EndpointOptions, isPrivate: boolean) {
    return splitPages({
      own: { ...this.#options.pages, ...pages },
      ours: { ...this.#observer.pages(isPrivate, isLocalRequest), ...this.#humans.pageEndpoint.pages },
      open: this.#openPages(),
      isPublic: this.#options.observe?.metrics === true && !this.#login,
    });
  }

  /** The pages of servers in this process, which learn the gateway's address. */
  #openPages(): OpenPages['pages'] {
    const open = this.#members.flatMap(({ target }) => target.open ?? []);
    const { pageEndpoint } = this.#humans;
    for (const one of open) one.servedAt(pageEndpoint.host);
    return Object.assign({}, ...open.map(({ pages }) => pages), this.#accounts.pages) as OpenPages['pages'];
  }

  get #observed(): GatewayState {
    const fronts = [this.#front, ...[...this.#parts.values()].map(({ front }) => front)];
    const servers = this.#members.map(({ name, target, entry }) => ({
      name,
      target,
      state: isServerTarget(target) ? target.status.state : ('ready' as const),
      isEager: (entry as ServerSettings).start === 'eager',
    }));
    const parked = fronts.reduce((sum, front) => sum + front.parked.size, this.#humans.waiting);
    return { servers, parked, families: () => serverFamilies(this.#members) };
  }

  get #info(): Implementation {
    const { name = 'mcp-parley', version = ownVersion() } = this.#options;
    return { name, version };
  }

  /** The chain of a server or group, at /mcp/<name>. */
  #part(name: string): { chain: RoutedChain; front: ServeContext } {
    const members = this.#membersOf(name);
    if (members.length === 0) throw new GatewayError('SERVER_UNKNOWN', { server: name });
    const known = this.#parts.get(name);
    if (known) return known;
    const chain = this.#chainOf(members, Object.hasOwn(this.#groups, name));
    const part = { chain, front: this.#frontOf(chain) };
    this.#parts.set(name, part);
    return part;
  }

  #frontOf(chain: RoutedChain): ServeContext {
    const { clock, log, limits, audit, auditArguments: showArguments } = this.#options;
    const options = { clock, log, limits: { ...DEFAULT_LIMITS, ...limits } };
    const pipeline = createPipeline(chain, {
      audit: audit && ((next) => new AuditLayer(next, { record: audit, clock, showArguments })),
      observe: this.#observer.layer,
      rate: this.#rates.layer,
      flows: (next) => new FlowLayer(next, options),
      questions: this.#humans.layer,
    });
    return createServeContext(pipeline, this.#options);
  }

  #membersOf(part: string): Member[] {
    const names = Object.hasOwn(this.#groups, part) ? this.#groups[part]! : [part];
    return this.#members.filter((member) => names.includes(member.name));
  }

  get #chained(): Step[] {
    return withRules(this.#steps, this.#rules);
  }

  #rulesOf(members: readonly Member[]): Step[] {
    const { auth: { toolScopes } = {}, rate, log, clock } = this.#options;
    const ruled = this.#ruling.steps({ servers: this.#names.servers, believed: believedOf(members), log, clock });
    const isByName = toolScopes !== undefined || hasToolRates(rate, members);
    const scopes = toolScopes ? [requireScopes(toolScopes)] : [];
    return [...(isByName ? [onlyListed()] : []), ...scopes, ...serverRulesOf(members), ...ruled];
  }

  /** `isMany`: for all servers or a group, not for a single server. */
  #chainOf(members: Member[], isMany: boolean): RoutedChain {
    const { log, clock, sealer, instructions, startMs, name, audit } = this.#options;
    const who = {
      info: this.#info,
      isNamed: name !== undefined,
      isMany,
      isWhole: members === this.#members,
      instructions,
    };
    const routing = { ...who, names: this.#names, ...this.#ids, log, clock, sealer, startMs, audit };
    return new RoutedChain(this.#seen(members), this.#chained, routing);
  }

  #toMember(name: string, entry: ServerEntry): Member {
    if (isTarget(entry)) return { name, entry, target: entry };
    const configured: ConfiguredServer = isSettings(entry) ? entry : { server: entry };
    const { server, start, account, tools: _, trustAnnotations: _believed, rate: _rate, pins, ...rest } = configured;
    if (isTarget(server)) return { name, entry, target: server };
    noteSandbox(server);
    const { log, clock, limits, id, audit, checkStart } = this.#options;
    const share = rest.share ?? this.#options.share;
    const asking = { roots: this.#humans.roots?.answer, assisted: () => this.#humans.assisted };
    const told = { log: this.#observer.log(log, name), clock, limits, id, audit, checkStart, ...asking };
    const isPerUser = this.#accounts.isPerUser(name, server, account);
    const checked = { name, address: server, isPerUser, servers: () => this.#names.servers, log: told.log, clock };
    const definitions = this.#checks.of(checked, pins);
    const shared = { name, address: server, client: this.#info, definitions, ...told, ...rest, share };
    const open = (one?: Account): UpstreamTarget =>
      new UpstreamTarget({ ...shared, ...this.#accounts.loginAt(name, server, one) });
    const target = isPerUser ? new AccountTarget({ name, create: open }) : open();
    if (start === 'eager' && this.#options.startsEager !== false) void target.ready();
    return { name, entry, target };
  }
}
