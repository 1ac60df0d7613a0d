// Lets servers ask people: provides the page for answers, the calls that wait meanwhile, and answers on behalf of clients that
// cannot be asked.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { RecordAudit } from '../protocol/audit.ts';
import type { OpenPages, Layer } from '../protocol/target.ts';
import type { Clock } from '../shared/clock.ts';
import { DEFAULT_LIMITS } from '../shared/limits.ts';
import type { Limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import type { Sealer } from '../shared/crypto/seal.ts';
import type { Identify } from './accept/identify.ts';
import type { Login } from './accept/login.ts';
import { AskPageEndpoint } from './ask-page-endpoint.ts';
import { QuestionLayer } from './ask/question-layer.ts';
import { ConfiguredRoots } from './ask/configured-roots.ts';
import type { RootOption } from './ask/configured-roots.ts';
import { AskChannels } from './ask/ask-channels.ts';
import { AnswerTrust } from './ask/trust/answer-trust.ts';
import type { PairingCode, Pairings } from './ask/trust/pairings.ts';
import type { GatewayAskOptions } from './ask/ask-channels.ts';

export interface HumanChannelOptions {
  /** Roots that servers get for clients without roots; an empty list can be filled later. */
  roots?: readonly RootOption[] | undefined;
  /** How to ask people whose clients cannot be asked. */
  ask?: GatewayAskOptions | undefined;
  /** Where paired browsers are kept; in memory without it. */
  stateFolder?: string | undefined;
  /** Names this gateway to paired browsers. Default: its name. */
  pairedAs?: string | undefined;
  name?: string | undefined;
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
  readonly #channels: AskChannels;
  readonly #pairings: () => Promise<Pairings>;
  /** Puts whatever is asked behind it to people. */
  readonly layer: Layer = (next) => new QuestionLayer(next, this.#channels);

  constructor(options: HumanChannelOptions, around: HumanChannelContext) {
    const { ask, publicUrl, limits, besides = () => ({}) } = options;
    const { log, clock, sealer, login } = around;
    this.roots = options.roots && new ConfiguredRoots(options.roots);
    const pairings = (this.#pairings = pairingsOf(options, clock));
    const { trust, notify, identifyPerson, ...channels } = ask ?? {};
    const pageLogin = login?.pageLogin;
    const answerTrust = new AnswerTrust({
      trust,
      notify,
      identifyPerson,
      pageLogin,
      pairings,
      audit: around.audit,
      log,
    });
    this.pageEndpoint = new AskPageEndpoint({
      round: (handle) => this.#channels.rounds.get(handle),
      publicUrl,
      identify: login?.identifyVisitor ?? options.identify,
      trustsLinks: login !== undefined, // browsers send no keys and no tokens
      proof: { answerTrust, pairings, pageLogin, rounds: () => this.#channels.rounds.all },
      besides,
      maxUploadBytes: limits?.maxUploadBytes,
      log,
      clock,
      sealer,
    });
    const standIns = { ...(this.roots && { 'roots/list': this.roots.answer }), ...ask?.standIns };
    this.#channels = new AskChannels({
      ...channels,
      standIns,
      answerTrust,
      page: this.pageEndpoint,
      log,
      clock,
      limits,
    });
  }

  /** Capabilities that the gateway provides for clients that declare none. */
  get assisted(): ClientCapabilities | undefined {
    return this.#channels.assistedFor({ dialect: 'handshake', capabilities: {} });
  }

  /** A code that pairs one browser, and the page on which to enter it; the page is undefined if browsers cannot reach it. */
  async pair(user?: string): Promise<PairingCode & { link: string | undefined }> {
    const [code, address] = [(await this.#pairings()).invite(user), await this.pageEndpoint.address()];
    return { ...code, link: address && `${address}/ask?c=${code.code}` };
  }

  /** The number of calls that wait for an answer. */
  get waiting(): number {
    return this.#channels.rounds.size;
  }

  async close(): Promise<void> {
    this.#channels.rounds.close();
    await this.pageEndpoint.close();
  }
}

/** Loaded when a person has to be asked. */
function pairingsOf(options: HumanChannelOptions, clock: Clock): () => Promise<Pairings> {
  const { stateFolder, name, pairedAs: gateway = name ?? 'mcp-parley' } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  let made: Promise<Pairings> | undefined;
  const load = async (): Promise<Pairings> => {
    const { Pairings, pairingFileIn } = await import('./ask/trust/pairings.ts');
    return new Pairings({ gateway, file: stateFolder && pairingFileIn(stateFolder), clock, limits });
  };
  return () => (made ??= load());
}
