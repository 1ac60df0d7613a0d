// Lets servers ask people: provides the page for answers, the calls that wait meanwhile, and answers on behalf of clients that
// cannot be asked.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { RecordAudit } from '../protocol/audit.ts';
import type { OpenPages } from '../protocol/target.ts';
import type { Layer } from '../protocol/layer.ts';
import type { Clock } from '../shared/clock.ts';
import type { Limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import type { Sealer } from '../shared/crypto/seal.ts';
import type { Identify } from './accept/identify.ts';
import type { Login } from './accept/login.ts';
import { AskPageEndpoint } from './ask-page-endpoint.ts';
import { QuestionLayer } from './ask/question-layer.ts';
import { ConfiguredRoots } from './ask/configured-roots.ts';
import type { RootOption } from './ask/configured-roots.ts';
import { createAskChannels } from './ask/ask-channels.ts';
import type { GatewayAskOptions, AskChannels } from './ask/ask-channels.ts';

export interface HumanChannelOptions {
  /** Roots that servers get for clients without roots; an empty list can be filled later. */
  roots?: readonly RootOption[] | undefined;
  /** How to ask people whose clients cannot be asked. */
  ask?: GatewayAskOptions | undefined;
  /** The URL at which users' browsers reach this gateway, if it is not the gateway's own address. */
  publicUrl?: string | undefined;
  identify?: Identify | undefined;
  /** Other pages of the port that is opened for the page. */
  besides?: (() => OpenPages['pages']) | undefined;
  limits?: Partial<Limits> | undefined;
}

export interface HumanChannelContext {
  log: Log;
  clock: Clock;
  sealer: Sealer;
  login?: Login | undefined;
  audit?: RecordAudit | undefined;
}

export class HumanChannel {
  readonly pageEndpoint: AskPageEndpoint;
  readonly roots: ConfiguredRoots | undefined;
  readonly #means: AskChannels;
  /** Puts whatever is asked behind it to people. */
  readonly layer: Layer = (next) => new QuestionLayer(next, this.#means);

  constructor(options: HumanChannelOptions, around: HumanChannelContext) {
    const { ask, publicUrl, limits, besides = () => ({}) } = options;
    const { log, clock, sealer, login } = around;
    this.roots = options.roots && new ConfiguredRoots(options.roots);
    this.pageEndpoint = new AskPageEndpoint({
      round: (handle) => this.#means.rounds.get(handle),
      publicUrl,
      identify: login?.identifyVisitor ?? options.identify,
      trustsLinks: login !== undefined, // browsers send no keys and no tokens
      besides,
      maxUploadBytes: limits?.maxUploadBytes,
      log,
      clock,
      sealer,
    });
    const standIns = { ...(this.roots && { 'roots/list': this.roots.answer }), ...ask?.standIns };
    this.#means = createAskChannels({ ...ask, standIns, page: this.pageEndpoint, log, clock, limits });
  }

  /** Capabilities that the gateway provides for clients that declare none. */
  get assisted(): ClientCapabilities | undefined {
    return this.#means.assistedFor({ dialect: 'handshake', capabilities: {} });
  }

  /** The number of calls that wait for an answer. */
  get waiting(): number {
    return this.#means.rounds.size;
  }

  async close(): Promise<void> {
    this.#means.rounds.close();
    await this.pageEndpoint.close();
  }
}
