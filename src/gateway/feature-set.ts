// The features of one gateway, in their order.
import type { HttpHandler } from '../kernel/base/http.ts';
import type { Log } from '../kernel/base/log.ts';
import type { Family } from '../kernel/base/metric.ts';
import type { Step } from '../kernel/step.ts';
import type { Layer } from '../kernel/target.ts';
import { onlyListed } from './chain/map-names.ts';
import { FEATURES } from './features/index.ts';
import type { FeatureOptions } from './features/index.ts';
import type {
  Checkpoint,
  FeatureChange,
  CommonOptions,
  Feature,
  GatewayContext,
  OpenedServer,
  OpenServer,
  SupposedCall,
} from './features/feature.ts';
import type { JudgedCall, ShownRule } from './features/judged-call.ts';
import type { ShownDefinition, WaitingDefinition } from './features/waiting-definition.ts';
import type { ServerLoginRow } from '../mcp/connect/accounts/login-rows.ts';
import type { Member } from './router/member.ts';
import type { UpstreamTargetOptions } from './servers/target-options.ts';
import type { UpstreamTarget } from './servers/upstream-target.ts';

export class FeatureSet {
  readonly #features: readonly Feature[];

  constructor(options: FeatureOptions & CommonOptions, context: GatewayContext) {
    this.#features = FEATURES.flatMap((kind) => kind.create(options, context) ?? []);
  }

  /** Outermost first. */
  get layers(): Layer[] {
    return this.#features.flatMap(({ layer }) => layer ?? []);
  }

  get ready(): Promise<unknown> {
    return Promise.all(this.#features.flatMap(({ ready }) => ready ?? []));
  }

  /** The steps of the features for these servers, outermost first. */
  stepsFor(members: readonly Member[]): Step[] {
    const isByName = this.#features.some((feature) => feature.goesByName?.(members));
    const steps = this.#features.flatMap((feature) => feature.steps?.(members) ?? []);
    return isByName ? [onlyListed(), ...steps] : steps;
  }

  /** The members as features wrap them. */
  wrap(members: readonly Member[]): Member[] {
    const inward = this.#features.toReversed();
    return members.map((member) => inward.reduce((inner, feature) => feature.member?.(inner) ?? inner, member));
  }

  serverLog(log: Log, server: string): Log {
    return this.#features.reduce((heard, feature) => feature.serverLog?.(heard, server) ?? heard, log);
  }

  /** Opens a server as the features want it opened. */
  open(
    server: Omit<OpenedServer, 'isPerUser' | 'held'>,
    create: (options: Partial<UpstreamTargetOptions>) => UpstreamTarget,
  ) {
    const isPerUser = this.#features.some((feature) => feature.isPerUser?.(server));
    const [held] = this.#features.flatMap((feature) => feature.held?.({ ...server, isPerUser }) ?? []);
    const opened = { ...server, isPerUser, held };
    const options = Object.assign({}, ...this.#features.map((feature) => feature.opening?.(opened)));
    const open: OpenServer = (more) => create({ ...options, ...more });
    for (const feature of this.#features) {
      const target = feature.target?.(opened, open);
      if (target) return target;
    }
    return open();
  }

  /** Whether this setting of a server can change while the server stays open. */
  isLiveSetting(name: string): boolean {
    return this.#features.some(({ liveSettings }) => liveSettings?.includes(name));
  }

  pages(isPrivate: boolean): Record<string, HttpHandler> {
    return Object.assign({}, ...this.#features.map((feature) => feature.pages?.(isPrivate))) as Record<
      string,
      HttpHandler
    >;
  }

  get metrics(): Family[] {
    return this.#features.flatMap((feature) => feature.metrics?.() ?? []);
  }

  async waitingDefinitions(): Promise<WaitingDefinition[]> {
    const waiting = await Promise.all(this.#features.flatMap((feature) => feature.waitingDefinitions?.() ?? []));
    return waiting.flat();
  }

  /** Whether it was still as it was shown, at the feature that holds it back. */
  async accept(shown: ShownDefinition): Promise<boolean> {
    const accepted = await Promise.all(this.#features.flatMap((feature) => feature.accept?.(shown) ?? []));
    return accepted.includes(true);
  }

  async judge(call: SupposedCall): Promise<JudgedCall[]> {
    const judged = await Promise.all(this.#features.flatMap((feature) => feature.judge?.(call) ?? []));
    return judged.filter((one) => one !== undefined);
  }

  get rules(): ShownRule[] {
    return this.#features.flatMap((feature) => feature.rules?.() ?? []);
  }

  async logins(): Promise<ServerLoginRow[]> {
    const found = await Promise.all(this.#features.flatMap((feature) => feature.logins?.() ?? []));
    return found.flat();
  }

  get openPages(): Record<string, HttpHandler> {
    return Object.assign({}, ...this.#features.map(({ openPages }) => openPages)) as Record<string, HttpHandler>;
  }

  /** What has to be made again. */
  update(options: object): ReadonlySet<FeatureChange> {
    return new Set(this.#features.flatMap((feature) => feature.update?.(options) ?? []));
  }

  checkpoint(): Checkpoint {
    const checkpoints = this.#features.flatMap((feature) => feature.checkpoint?.() ?? []);
    return {
      undo: () => checkpoints.forEach((one) => one.undo()),
      keep: () => checkpoints.forEach((one) => one.keep?.()),
    };
  }

  sendAway(): void {
    for (const feature of this.#features) feature.sendAway?.();
  }

  close(): void {
    for (const feature of this.#features) feature.close?.();
  }
}
