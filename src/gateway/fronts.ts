// What clients see of a gateway: all servers at /mcp, and one server or a group at /mcp/<name>. Each is a chain of the same steps before its
// servers, behind the layers of the features; they are replaced together.
import type { Implementation } from '@modelcontextprotocol/client';
import { GatewayError } from '../kernel/base/errors.ts';
import type { EventHub } from '../kernel/events/event-hub.ts';
import type { Step } from '../kernel/step.ts';
import type { Layer } from '../kernel/target.ts';
import { createServeContext } from '../mcp/eras/serve/serve-context.ts';
import type { ServeContext } from '../mcp/eras/serve/serve-context.ts';
import type { CompleteOptions } from './gateway-options.ts';
import { behindLayers } from './pipeline.ts';
import { RoutedChain } from './routed-chain.ts';
import type { Member } from './router/member.ts';
import { PublicIds } from './router/public-ids.ts';
import type { NamingRules } from './router/public-names.ts';

/** What the chains are made of. */
export interface Behind {
  /** As features wrap them. */
  members: readonly Member[];
  /** All of them, outermost first. */
  steps: readonly Step[];
  groups: Readonly<Record<string, readonly string[]>>;
}

interface FrontsOptions {
  info: Implementation;
  names: NamingRules;
  events: EventHub;
  /** Outermost first. */
  layers: readonly Layer[];
  /** How long clients may wait for servers that start; undefined: the default. */
  startMs: () => number | undefined;
}

interface Front {
  chain: RoutedChain;
  context: ServeContext;
}

export class Fronts {
  readonly whole: ServeContext;
  readonly chain: RoutedChain;
  readonly #options: CompleteOptions;
  readonly #around: FrontsOptions;
  readonly #ids: { taskIds: PublicIds; sessionIds: PublicIds };
  readonly #parts = new Map<string, Front>();
  #behind: Behind;

  constructor(behind: Behind, options: CompleteOptions, around: FrontsOptions) {
    this.#behind = behind;
    this.#options = options;
    this.#around = around;
    const { sealer, nodes } = options;
    this.#ids = {
      taskIds: new PublicIds(sealer, 'task', nodes?.mark),
      sessionIds: new PublicIds(sealer, 'session', nodes?.mark),
    };
    ({ chain: this.chain, context: this.whole } = this.#create(behind.members, { isMany: true, isWhole: true }));
  }

  replace(behind: Behind): void {
    this.#behind = behind;
    this.chain.replace(behind.members, behind.steps);
    for (const [name, { chain }] of this.#parts) chain.replace(this.#membersOf(name), behind.steps);
  }

  /** A server or group, at /mcp/<name>. */
  part(name: string): ServeContext {
    const members = this.#membersOf(name);
    if (members.length === 0) throw new GatewayError('SERVER_UNKNOWN', { server: name });
    const known = this.#parts.get(name);
    if (known) return known.context;
    const isMany = Object.hasOwn(this.#behind.groups, name);
    const front = this.#create(members, { isMany, isWhole: false });
    this.#parts.set(name, front);
    return front.context;
  }

  /** Calls that wait for an answer of their user. */
  get parked(): number {
    const contexts = [this.whole, ...[...this.#parts.values()].map(({ context }) => context)];
    return contexts.reduce((sum, { parked }) => sum + parked.size, 0);
  }

  #membersOf(part: string): Member[] {
    const { members, groups } = this.#behind;
    const names = Object.hasOwn(groups, part) ? groups[part]! : [part];
    return members.filter((member) => names.includes(member.name));
  }

  /** `isMany`: for all servers or a group, not for a single server. */
  #create(members: readonly Member[], scope: { isMany: boolean; isWhole: boolean }): Front {
    const { log, clock, sealer, instructions, name, state } = this.#options;
    const { info, names, layers, startMs, events } = this.#around;
    const who = { info, isNamed: name !== undefined, ...scope, instructions };
    const routing = { ...who, names, ...this.#ids, log, clock, sealer, startMs, events, state };
    const chain = new RoutedChain(members, this.#behind.steps, routing);
    return { chain, context: createServeContext(behindLayers(chain, layers), this.#options, events) };
  }
}
