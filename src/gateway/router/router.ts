// Several targets as one. It joins lists in configuration order, keeps names apart, and sends each request to the target that
// owns what it names. With a single target everything passes unchanged, including cursors.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { EventHub } from '../../kernel/events/event-hub.ts';
import type { State } from '../../kernel/state/state.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { asksForReceipt, isInteraction } from '../../kernel/interaction.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { Origin } from '../../kernel/step.ts';
import type { Change, ClientOpening, Target, Watcher } from '../../kernel/target.ts';
import {
  AREA_BY_LIST_METHOD,
  CALL_TOOL,
  COMPLETE_ARGUMENT,
  TASK_METHODS,
  TELL_CAPABILITIES,
  rowOf,
} from '../../kernel/methods.ts';
import type { ListArea } from '../../kernel/methods.ts';
import { kindNamedBy, nameIn, readRef } from '../../kernel/named-thing.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import { OncePerTick } from '../../kernel/containers/memo.ts';
import type { Sealer } from '../../kernel/crypto/seal.ts';
import { withoutHidden } from '../../kernel/text/hidden.ts';
import { Catalogs } from './catalogs.ts';
import type { AreaNames } from './catalogs.ts';
import { mergeCapabilities, fenceInstructions } from './merge-opening.ts';
import { handTo, isStarting } from './member.ts';
import type { Member } from './member.ts';
import { PublicNames, posesAsAnother, QUALIFIER, toQualified } from './public-names.ts';
import type { NamingRules } from './public-names.ts';
import { FlowDeclarations, publishForWatcher, publishReceipt, publisherOf, routeFlow } from './route-flow.ts';
import type { FlowRouting } from './route-flow.ts';
import { routeByMethod } from './route-by-method.ts';
import { publishChange, publishTask, routeTask } from './route-task.ts';
import { PublicIds } from './public-ids.ts';

export interface RouterOptions {
  /** The router's name and version; default: those of the only server behind it. */
  info: Implementation;
  /** Whether the operator has named the gateway; then it never goes by the name of its only server. */
  isNamed?: boolean | undefined;
  /** Whether it serves all servers or a group, and not a single named server. */
  isMany?: boolean | undefined;
  /** Whether it serves all servers of the gateway. */
  isWhole?: boolean | undefined;
  instructions?: string | undefined;
  names: NamingRules;
  clock: Clock;
  log: Log;
  sealer: Sealer;
  events?: EventHub | undefined;
  state?: State | undefined;
  /** Shared by successive routers. */
  taskIds?: PublicIds | undefined;
  sessionIds?: PublicIds | undefined;
  /** How long the first client may wait for servers that start. */
  startMs?: (() => number | undefined) | undefined;
}

/** The names of a server's tools, prompts or resources, its own and the public ones. */
export interface ServerNames {
  server: string;
  names: string[];
  /** False until the server has listed something or failed. */
  isKnown: boolean;
}

export class Router implements Target {
  readonly #options: RouterOptions;
  readonly #members: readonly Member[];
  readonly #catalogs: Catalogs;
  readonly #taskIds: PublicIds;
  readonly #flow: FlowRouting;
  /** Converts a change once for all its watchers. */
  readonly #published = new OncePerTick<Change, Change | undefined>();
  readonly #names: AreaNames;
  /** Whether names may be qualified. */
  readonly #isJoined: boolean;
  /** The prefix of the qualified names of the first server. */
  readonly #qualified: string;

  /** `previous`: the router that this one replaces. */
  constructor(members: readonly Member[], options: RouterOptions, previous?: Router) {
    this.#members = members;
    this.#options = options;
    this.#isJoined = members.length > 1 || (options.isMany === true && options.names.servers.length > 1);
    this.#qualified = `${members[0]?.name}${QUALIFIER}`;
    const stay = previous ? members.filter((member) => previous.#has(member)).map(({ name }) => name) : [];
    const servers = members.map(({ name }) => name);
    const namesOf = (area: keyof AreaNames): PublicNames => {
      const names = new PublicNames(servers, options.names.naming);
      if (previous) names.inherit(previous.#names[area], stay);
      return names;
    };
    this.#names = { tools: namesOf('tools'), prompts: namesOf('prompts') };
    this.#catalogs = new Catalogs(
      members,
      {
        ...options,
        names: this.#names,
        servers: options.names.servers,
        remembers: this.#isJoined && options.names.naming === 'always',
      },
      previous && previous.#catalogs,
    );
    this.#taskIds = options.taskIds ?? new PublicIds(options.sealer, 'task');
    this.#flow = {
      members,
      ids: options.sessionIds ?? new PublicIds(options.sealer, 'session'),
      declarations: (previous && previous.#flow.declarations) ?? new FlowDeclarations(options.clock),
      ownerOf: (tool, { client }) => this.#toolOwner(tool, client),
      nameOf: ({ name: server }, name) => (this.#isJoined ? this.#names.tools.publish({ server, name }) : name),
    };
  }

  get info(): Implementation {
    const [only, ...others] = this.#options.isNamed ? [] : this.#members;
    if (!only || others.length > 0 || isUnknown(only)) return this.#options.info;
    return only.target.info;
  }

  get instructions(): string | undefined {
    if (this.#options.instructions !== undefined) return this.#options.instructions;
    const said = this.#members.flatMap(({ name, target }) =>
      target.instructions ? [{ name, text: target.instructions }] : [],
    );
    if (this.#members.length === 1) return said[0] && withoutHidden(said[0].text);
    return fenceInstructions(said);
  }

  /** Only with a single server: with several, it would be taken for a statement of all. */
  greeting(client: ClientView): JsonObject | undefined {
    const [only, ...others] = this.#members;
    return others.length === 0 ? only?.target.greeting?.(client) : undefined;
  }

  /** With several servers, one that refuses does not affect the others. */
  setLevel(level: unknown, client: ClientView): Promise<void> | undefined {
    const [only, ...others] = this.#members;
    if (others.length === 0) return only?.target.setLevel?.(level, client);
    const told = this.#members.map(async ({ target }) => target.setLevel?.(level, client));
    return Promise.allSettled(told).then(() => {});
  }

  /** A server that is not up in time is announced later, by a changed list. */
  ready(opening?: ClientOpening): Promise<void> {
    return this.#catalogs.ready(opening);
  }

  capabilities(client: ClientView): ServerCapabilities {
    const merged = mergeCapabilities(this.#members.map(({ target }) => target.capabilities(client)));
    return this.#isJoined ? withChanges(merged, this.#members.some(isUnknown)) : merged;
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const stops = this.#members.map((member) =>
      member.target.watch(
        (change) => {
          if (watcher && this.#isUndeclared(change, watcher.client)) return;
          const told = this.#published.from(change, () => this.#publish(member, change));
          if (told) listener(told);
        },
        watcher && publishForWatcher(watcher, publisherOf(member, this.#flow.ids, watcher.client.principal)),
      ),
    );
    stops.push(this.#catalogs.watchLate(listener));
    return () => stops.forEach((stop) => stop());
  }

  #has({ name, opening }: Member): boolean {
    return opening !== undefined && this.#members.some((member) => member.name === name && member.opening === opening);
  }

  async #toolOwner(tool: string, client: ClientView): Promise<{ member: Member; name: string } | undefined> {
    if (!this.#isJoined) return { member: this.#members[0]!, name: tool };
    const owner = await this.#catalogs.owner('tools', tool, client);
    const member = owner && this.#catalogs.member(owner.server);
    return member && { member, name: owner.name };
  }

  #publish(member: Member, change: Change): Change | undefined {
    if (change.kind === 'task') return publishChange(change, member, this.#taskIds);
    if (change.kind === 'resource' && !this.#isJoined) return change;
    const told = this.#catalogs.onChange(member, change);
    // A single server has its own names. Steps may keep tools from clients.
    return change.kind === 'tools' ? { ...(this.#isJoined ? told : change), kind: 'tools', isClaimed: true } : told;
  }

  /** A single server does not announce changes of what it does not have. */
  #isUndeclared({ kind }: Change, client: ClientView): boolean {
    if (this.#isJoined || (kind !== 'tools' && kind !== 'prompts' && kind !== 'resources')) return false;
    return !this.capabilities(client)[kind];
  }

  async followTask(publicId: string, client: ClientView): Promise<void> {
    const opened = this.#taskIds.open(publicId, client.principal);
    const member = opened && this.#members.find(({ name }) => name === opened.server);
    if (!member) throw new GatewayError('TASK_NOT_FOUND', { taskId: publicId });
    await member.target.followTask?.(opened.id, client);
  }

  notify(notification: NotificationMessage, client: ClientView): void {
    for (const { target } of this.#members) target.notify?.(notification, client);
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#catalogs.inputSchema(tool, client);
  }

  /** The server that would answer, as far as it is known. */
  ownerOf({ method, params }: Pick<Exchange, 'method' | 'params'>): string | undefined {
    if (this.#members.length === 1) return this.#members[0]!.name;
    const name = namedIn(method, params);
    return name === undefined ? undefined : this.#names[areaOf(method)].owner(name)?.server;
  }

  /** The origin of a public name, as far as it is known. */
  originOf(area: keyof AreaNames | 'resources', name: string): Origin | undefined {
    if (area === 'resources') return this.#originOfUri(name);
    const [only] = this.#members;
    const known = this.#isJoined ? this.#names[area].owner(name) : only && { server: only.name, name };
    const owner = known ?? this.#catalogs.heldOwner(area, name);
    if (!owner) return undefined;
    const isPosing = posesAsAnother(owner, this.#options.names.servers);
    return {
      server: owner.server,
      name: owner.name,
      isPosing,
      away: () => this.#catalogs.missing(area, owner),
      starting: (client) => this.#catalogs.starting(area, owner.server, client),
    };
  }

  #originOfUri(uri: string): Origin | undefined {
    const [only] = this.#members;
    const owner = this.#isJoined ? this.#catalogs.uris.shownBy(uri) : only && { server: only.name, uri };
    return owner && this.#catalogs.uriOrigin(owner.server, owner.uri);
  }

  /** All names of tools, prompts or resources, by server. */
  namesOf(area: ListArea, client: ClientView): Promise<ServerNames[]> {
    return Promise.all(
      this.#members.map(async (member): Promise<ServerNames> => {
        const { entries, isUnknown } = await this.#catalogs.listOf(member, area, client);
        const held = area === 'tools' || area === 'prompts' ? member.target.heldBack?.(area) : undefined;
        const all = [...entries, ...[...(held?.keys() ?? [])].map((name) => ({ name }))];
        const names = all.flatMap((entry) => this.#namesOf(area, member.name, entry));
        const hasFailed = member.target.status?.state === 'failing';
        return { server: member.name, names, isKnown: isUnknown !== true || hasFailed };
      }),
    );
  }

  #namesOf(area: ListArea, server: string, entry: JsonObject): string[] {
    if (area === 'resources' || area === 'resourceTemplates') {
      const uri = String(area === 'resources' ? entry.uri : entry.uriTemplate);
      return [uri, this.#catalogs.uris.publish(server, uri)];
    }
    const owner = { server, name: String(entry.name) };
    return [owner.name, toQualified(owner), this.#names[area].publish(owner)];
  }

  /**
   * Replaces a qualified name in the request by the listed name, by which steps judge. Undefined if it is done synchronously, as
   * almost always.
   */
  canonicalize(exchange: Exchange): Promise<void> | undefined {
    const name = namedIn(exchange.method, exchange.params);
    if (name === undefined) return undefined;
    if (!this.#isJoined) {
      return name.startsWith(this.#qualified) ? this.#toBare(exchange, name, this.#members[0]!) : undefined;
    }
    const area = areaOf(exchange.method);
    if (this.#names[area].isIncomplete) {
      return this.#catalogs.list(area, exchange.client).then(() => this.#toPublic(exchange, area, name));
    }
    if (area === 'tools' && !this.#names.tools.owner(name)) return this.#fromBare(exchange, name);
    this.#toPublic(exchange, area, name);
    return undefined;
  }

  /** An app calls its tools as its server names them. Steps judge the call by the name that everybody uses. */
  async #fromBare(exchange: Exchange, name: string): Promise<void> {
    const owner = await this.#catalogs.bareOwner(name, exchange.client);
    if (owner) setName(exchange, this.#names.tools.publish(owner));
  }

  #toPublic(exchange: Exchange, area: keyof AreaNames, name: string): void {
    const names = this.#names[area];
    const owner = names.owner(name);
    const shown = owner && names.publish(owner);
    if (shown === undefined || shown === name) return;
    // A bare name leads back only to a server that has listed it.
    const found = names.owner(shown);
    if (found?.server === owner?.server && found?.name === owner?.name) setName(exchange, shown);
  }

  /**
   * A single server has bare names. A bare name that looks like a qualified one takes precedence. A server that waits for a login has not
   * listed its names yet.
   */
  async #toBare(exchange: Exchange, name: string, member: Member): Promise<void> {
    const bare = name.slice(this.#qualified.length);
    const { entries } = await this.#catalogs.listOf(member, areaOf(exchange.method), exchange.client);
    if (!entries.some((entry) => entry.name === name)) setName(exchange, bare);
  }

  handle(exchange: Exchange): Promise<ResultObject> | ResultObject {
    const [only] = this.#members;
    const { method } = exchange;
    if (!only) throw new GatewayError('METHOD_NOT_FOUND', { method });
    if (method !== CALL_TOOL && isInteraction(method)) return routeFlow(exchange, this.#flow);
    if (method === TELL_CAPABILITIES)
      return this.#flow.declarations.merged(this.#members, exchange.client, this.#options.sealer.durable);
    const hasReceipt = exchange.params._meta !== undefined && asksForReceipt(exchange);
    if (this.#isJoined) {
      const routed = routeByMethod(exchange, this.#catalogs, this.#taskIds);
      return hasReceipt ? this.#publishReceipt(exchange, routed) : routed;
    }
    if (TASK_METHODS.has(method)) return routeTask(exchange, this.#members, this.#taskIds);
    if (exchange.resourceGuard) this.#catalogs.requireAllowed(exchange, only, uriIn(exchange));
    if (AREA_BY_LIST_METHOD.has(method) && isStarting(only)) return this.#listInTime(only, exchange);
    const own = handTo(only, exchange);
    const result = hasReceipt ? this.#publishReceipt(exchange, own) : own;
    // Without task support there is no task id to replace.
    if (!exchange.task || exchange.method !== CALL_TOOL) return result;
    return Promise.resolve(result).then((value) => publishTask(exchange, only, this.#taskIds, value));
  }

  #publishReceipt(exchange: Exchange, result: Promise<ResultObject> | ResultObject): Promise<ResultObject> {
    return Promise.resolve(result).then((value) => publishReceipt(exchange, value, this.#flow.ids));
  }

  /** A client waits at most `startMs`, and then gets the reason. */
  async #listInTime(only: Member, exchange: Exchange): Promise<ResultObject> {
    if (await this.#catalogs.isReady(only, exchange.client)) return handTo(only, exchange);
    throw (
      only.target.status?.problem ??
      new GatewayError('UPSTREAM_UNREACHABLE', { server: only.name, reason: 'it is still starting' })
    );
  }
}

/** The name of the tool or prompt that a request is about. */
function namedIn(method: string, params: JsonObject): string | undefined {
  if (method === CALL_TOOL) return typeof params.name === 'string' ? params.name : undefined; // most requests
  if (method === COMPLETE_ARGUMENT && (!isObject(params.ref) || params.ref.type !== 'ref/prompt')) return undefined;
  const kind = kindNamedBy(method);
  return kind === 'tool' || kind === 'prompt' || method === COMPLETE_ARGUMENT ? nameIn(method, params) : undefined;
}

/** What such a name belongs to. */
function areaOf(method: string): keyof AreaNames {
  return method === CALL_TOOL || kindNamedBy(method) === 'tool' ? 'tools' : 'prompts';
}

/** A reference that is not clear is not routed while something judges it. */
function uriIn({ method, params }: Exchange): unknown {
  if (method !== COMPLETE_ARGUMENT) return params.uri;
  const about = readRef(params);
  return 'template' in about ? about.template : undefined;
}

function setName(exchange: Exchange, name: string): void {
  const { params } = exchange;
  const { named } = rowOf(exchange.method)!;
  exchange.params = named ? { ...params, [named]: name } : { ...params, ref: { ...(params.ref as object), name } };
}

/** The placeholder name of a target that is not known yet. */
function isUnknown({ target }: Member): boolean {
  return target.info.name === 'unknown';
}

/** Among several servers some may come and go, and an unknown one may have anything. */
function withChanges(capabilities: ServerCapabilities, isIncomplete: boolean): ServerCapabilities {
  const { tools, prompts, resources } = capabilities;
  const listChanged = { listChanged: true };
  return {
    ...capabilities,
    ...((tools ?? isIncomplete) && { tools: { ...tools, ...listChanged } }),
    ...((prompts ?? isIncomplete) && { prompts: { ...prompts, ...listChanged } }),
    ...((resources ?? isIncomplete) && { resources: { ...resources, ...listChanged } }),
  };
}
