// What a feature of a gateway is: a folder of features/ whose feature.ts makes one of these, and its line in features/index.ts. Whatever it
// leaves out, it does not touch.
import type { EventHub } from '../../kernel/events/event-hub.ts';
import type { HttpHandler } from '../../kernel/base/http.ts';
import type { ClientView } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { Family } from '../../kernel/base/metric.ts';
import type { Sealer } from '../../kernel/crypto/seal.ts';
import type { JoinedNodes } from '../../kernel/nodes/nodes.ts';
import type { State } from '../../kernel/state/state.ts';
import type { Step } from '../../kernel/step.ts';
import type { Layer, Target } from '../../kernel/target.ts';
import type { Address } from '../../mcp/connect/address.ts';
import type { AuthOptions } from '../../mcp/listen/auth/auth-options.ts';
import type { Identify } from '../../mcp/listen/identify.ts';
import type { Login } from '../../mcp/listen/login.ts';
import type { ServerLoginRow } from '../../mcp/connect/accounts/login-rows.ts';
import type { HumanChannel } from '../../people/human-channel.ts';
import type { LoadHeldDefinitions } from './list-checks/held-definitions.ts';
import type { Member } from '../router/member.ts';
import type { JudgedCall, ShownRule } from './judged-call.ts';
import type { ListedServerTools } from './status/shown-tools.ts';
import type { ShownDefinition, WaitingDefinition } from './waiting-definition.ts';
import type { ServerTarget, UpstreamTargetOptions } from '../servers/target-options.ts';
import type { UpstreamTarget } from '../servers/upstream-target.ts';

/** What every feature is built with. */
export interface GatewayContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Limits;
  readonly sealer: Sealer;
  /** What the gateway remembers, alone or together with others (`isShared`). */
  readonly state: State;
  /** What happens at the gateway: tells it, and lets features watch. */
  readonly events: EventHub;
  /** How people are asked. */
  readonly people: HumanChannel;
  /** Who may call; undefined: everybody. */
  readonly login: Login | undefined;
  readonly gateway: GatewayView;
  /** The gateways that serve as one with it. */
  readonly nodes?: JoinedNodes | undefined;
}

/** A gateway as it is at the moment. */
export interface GatewayView {
  readonly members: readonly Member[];
  /** The names of all servers. */
  readonly servers: readonly string[];
  /** Calls that wait for an answer of their user. */
  readonly parked: number;
  /** What its features count themselves. */
  readonly metrics: readonly Family[];
  /** The listed tools of a server that the steps show to this client. */
  shownTools(listed: ListedServerTools, client: ClientView): Promise<JsonObject[]>;
  /** Definitions of its servers that wait until a person accepts them; none without a feature that holds them back. */
  waitingDefinitions(): Promise<readonly WaitingDefinition[]>;
  /** False if it is not as it was shown any more. */
  accept(shown: ShownDefinition): Promise<boolean>;
  /** What clients reach, with all layers and steps: all servers, or one of them. */
  front(server?: string): Target;
  /** What its features would do with a call that is not made, outermost first. */
  judge(call: SupposedCall): Promise<readonly JudgedCall[]>;
  /** The rules in effect. */
  readonly rules: readonly ShownRule[];
  /** The names of its configured steps, outermost first. */
  readonly stepNames: readonly string[];
  /** The logins at its servers, as far as they are kept. */
  logins(): Promise<readonly ServerLoginRow[]>;
  /** Whether it finishes its last calls. */
  readonly isStopping: boolean;
}

/** A call of a tool that nobody makes, to see what would happen. */
export interface SupposedCall {
  readonly client: ClientView;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly args: JsonObject;
  /** What the server says of the tool; empty if it does not list it. */
  readonly annotations: JsonObject;
}

/** A server that is about to be opened. */
export interface OpenedServer {
  readonly name: string;
  readonly address: Address;
  /** Its settings in `servers`; each feature knows its own. */
  readonly settings: object;
  /** Whether every user has an account there. */
  readonly isPerUser: boolean;
  readonly log: Log;
  /** What holds back some of what it lists. */
  readonly held: LoadHeldDefinitions | undefined;
}

/** Opens the server; with further options, if they are given. */
export type OpenServer = (options?: Partial<UpstreamTargetOptions>) => UpstreamTarget;

/** What something was before an update. */
export interface Checkpoint {
  /** The update was refused: it is again what it was. */
  undo(): void;
  /** The update is whole: what it replaced is not needed any more. */
  keep?(): void;
}

/** What has to be made again: its steps, or all connections to servers, with their steps. */
export type FeatureChange = 'steps' | 'servers';

export interface Feature {
  /** Wraps what clients send. The first feature of the list is outermost. */
  readonly layer?: Layer | undefined;
  /** Its steps for these servers, inside of all configured ones. */
  steps?(members: readonly Member[]): readonly Step[];
  /** Whether it judges tools by their names, so that only names count that a list has shown. */
  goesByName?(members: readonly Member[]): boolean;
  /** Wraps a server: what the gateway sends to it, and what comes back. */
  member?(member: Member): Member;
  /** Throws if its settings cannot be. */
  isPerUser?(server: Omit<OpenedServer, 'isPerUser' | 'held'>): boolean;
  /** Holds back some of what the server lists. Throws if its settings cannot be. */
  held?(server: Omit<OpenedServer, 'held'>): LoadHeldDefinitions | undefined;
  /** What it holds back until a person accepts it; read when somebody looks. */
  waitingDefinitions?(): Promise<readonly WaitingDefinition[]>;
  /** Accepts one of them. False if it is not as it was shown any more, or was never its own. */
  accept?(shown: ShownDefinition): Promise<boolean>;
  /** What it would do with a call, without making it; undefined if it judges no calls now. */
  judge?(call: SupposedCall): Promise<JudgedCall | undefined>;
  /** The rules by which it judges; read when somebody looks. */
  rules?(): readonly ShownRule[];
  /** Logins at servers; read when somebody looks. */
  logins?(): Promise<readonly ServerLoginRow[]>;
  /** Hears what is logged about a server. */
  serverLog?(log: Log, server: string): Log;
  /** How a server is opened. */
  opening?(server: OpenedServer): Partial<UpstreamTargetOptions>;
  /** What stands for a server; undefined: leave that to the next feature, and in the end to one connected target. */
  target?(server: OpenedServer, open: OpenServer): ServerTarget | undefined;
  /** Pages of a port. `isPrivate`: only programs of this machine reach it. */
  pages?(isPrivate: boolean): Readonly<Record<string, HttpHandler>>;
  /** What it counts, for `/metrics`; read when somebody looks. */
  metrics?(): readonly Family[];
  /** Pages whose URL is enough to open them. */
  readonly openPages?: Readonly<Record<string, HttpHandler>> | undefined;
  /** Rejects if it cannot do what it is there for; nobody is served before. */
  readonly ready?: Promise<unknown> | undefined;
  /** Its settings of a server that can change while the server stays open. */
  readonly liveSettings?: readonly string[] | undefined;
  /** Takes other options while clients are connected; those that are left out stay. Throws if they cannot be, and then nothing changes. */
  update?(options: object): FeatureChange | undefined;
  /** Called before each update of the gateway, which may be refused after `update`, `opening`, `member` and `steps` were called. */
  checkpoint?(): Checkpoint;
  /** Nobody is to stay: ends the streams of its pages. The gateway finishes its last calls, or closes. */
  sendAway?(): void;
  close?(): void;
}

/** Options of createGateway that belong to no feature, and that features may read. */
export interface CommonOptions {
  auth?: AuthOptions | undefined;
  identify?: Identify | undefined;
  publicUrl?: string | undefined;
  stateFolder?: string | undefined;
  pairedAs?: string | undefined;
  name?: string | undefined;
}

/** `Options`: those of createGateway that are its own. */
export interface FeatureKind<Options extends object> {
  readonly name: string;
  /** Undefined: these options ask for nothing. */
  create(options: Options & CommonOptions, context: GatewayContext): Feature | undefined;
}

/** A kind whose options are checked where it is defined. */
export function defineFeature<Options extends object>(kind: FeatureKind<Options>): FeatureKind<Options> {
  return kind;
}
