// All that lets whatever is behind it ask people: the page and its door, calls that are held meanwhile, and who answers in the
// place of clients that cannot.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { OpenPages } from '../protocol/open-pages.ts';
import type { Target } from '../protocol/target.ts';
import type { Clock } from '../shared/clock.ts';
import type { Limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import type { Sealer } from '../shared/crypto/seal.ts';
import type { Identify } from './accept/identify.ts';
import { AskPageEndpoint } from './ask-page-endpoint.ts';
import { AskTarget } from './ask/ask-target.ts';
import { ConfiguredRoots } from './ask/configured-roots.ts';
import type { RootOption } from './ask/configured-roots.ts';
import { createAskChannels } from './ask/ask-channels.ts';
import type { GatewayAskOptions, AskChannels } from './ask/ask-channels.ts';

export interface HumanChannelOptions {
  /** Folders that servers are told of for clients that name none; an empty list can be filled later. */
  roots?: readonly RootOption[] | undefined;
  /** How people are asked whose clients cannot be. */
  ask?: GatewayAskOptions | undefined;
  /** How browsers of users reach this gateway, where that is not its own address. */
  publicUrl?: string | undefined;
  identify?: Identify | undefined;
  /** What is served beside the page, on the port that is opened for it. */
  besides?: (() => OpenPages['pages']) | undefined;
  limits?: Partial<Limits> | undefined;
}

export class HumanChannel {
  readonly pageEndpoint: AskPageEndpoint;
  readonly roots: ConfiguredRoots | undefined;
  readonly #means: AskChannels;

  constructor(options: HumanChannelOptions, around: { log: Log; clock: Clock; sealer: Sealer }) {
    const { ask, publicUrl, identify, limits, besides = () => ({}) } = options;
    const { log, clock } = around;
    this.roots = options.roots && new ConfiguredRoots(options.roots);
    this.pageEndpoint = new AskPageEndpoint({
      round: (handle) => this.#means.rounds.get(handle),
      ...{ publicUrl, identify, besides, maxRequestBytes: limits?.maxRequestBytes, ...around },
    });
    const standIns = { ...(this.roots && { 'roots/list': this.roots.answer }), ...ask?.standIns };
    this.#means = createAskChannels({ ...ask, standIns, page: this.pageEndpoint, log, clock, limits });
  }

  /** The target, with what it asks put to people. */
  before(target: Target): Target {
    return new AskTarget(target, this.#means);
  }

  /** What is answered in the place of clients that declare nothing. */
  get assisted(): ClientCapabilities | undefined {
    return this.#means.assistedFor({ dialect: 'handshake', capabilities: {} });
  }

  /** Calls that are held. */
  get waiting(): number {
    return this.#means.rounds.size;
  }

  async close(): Promise<void> {
    this.#means.rounds.close();
    await this.pageEndpoint.close();
  }
}
