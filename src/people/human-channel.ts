// Lets servers ask people: provides the page for answers and where it is served, the calls that wait meanwhile, and answers on behalf of clients that
// cannot be asked.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { EventHub } from '../kernel/events/event-hub.ts';
import type { OpenPages, Layer, PagesHost } from '../kernel/target.ts';
import type { Nodes } from '../kernel/nodes/nodes.ts';
import { LIST_ROOTS } from '../kernel/methods.ts';
import type { Clock } from '../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import type { Limits } from '../kernel/base/limits.ts';
import type { Log } from '../kernel/base/log.ts';
import type { Sealer } from '../kernel/crypto/seal.ts';
import { cancelledError } from '../kernel/base/cancelled-error.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest } from '../kernel/base/http.ts';
import { identifyCaller } from '../mcp/listen/identify.ts';
import type { Identify } from '../mcp/listen/identify.ts';
import type { Login } from '../mcp/listen/login.ts';
import { QuestionLayer } from './question-layer.ts';
import { ConfiguredRoots } from './configured-roots.ts';
import type { RootOption } from './configured-roots.ts';
import { AskChannels } from './ask-channels.ts';
import { SharedRounds } from './elsewhere/shared-rounds.ts';
import type { GatewayAskOptions } from './ask-channels.ts';
import { AnswerTrust } from './trust/answer-trust.ts';
import type { PairingCode, Pairings } from './trust/pairings.ts';
import type { State } from '../kernel/state/state.ts';
import { isLoopback } from '../mcp/listen/guard.ts';
import type { PagePort } from '../mcp/listen/http/page-port.ts';
import type { AskPage } from './page/ask-page.ts';
import type { VisitorProof } from './page/prove-visitor.ts';
import type { QuestionRound } from './question-round.ts';

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

interface HumanChannelContext {
  log: Log;
  clock: Clock;
  sealer: Sealer;
  /** What gateways share; undefined: nothing. */
  state?: State | undefined;
  login?: Login | undefined;
  nodes?: Nodes | undefined;
  events?: EventHub | undefined;
}

export class HumanChannel {
  readonly pageEndpoint: AskPageEndpoint;
  readonly roots: ConfiguredRoots | undefined;
  readonly #channels: AskChannels;
  readonly #shared: SharedRounds | undefined;
  readonly #answerTrust: AnswerTrust;
  readonly #pairings: () => Promise<Pairings>;
  /** Whose answers count, and the open questions: for other pages of the gateway, which follow the same rules. */
  readonly proof: VisitorProof;
  /** Asks people what is asked behind it. */
  readonly layer: Layer = (next) => new QuestionLayer(next, this.#channels);

  constructor(options: HumanChannelOptions, around: HumanChannelContext) {
    const { ask, publicUrl, limits, besides = () => ({}) } = options;
    const { nodes, log, clock, sealer, login } = around;
    this.roots = options.roots && new ConfiguredRoots(options.roots);
    const pairings = (this.#pairings = pairingsOf(options, around));
    const { trust, notify, identifyPerson, ...channels } = ask ?? {};
    const pageLogin = login?.pageLogin;
    const answerTrust = new AnswerTrust({
      trust,
      notify,
      identifyPerson,
      pageLogin,
      pairings,
      events: around.events,
      log,
    });
    const own = (): Iterable<QuestionRound> => this.#channels.rounds.all;
    const elsewhere = async () => (await this.#shared?.elsewhere()) ?? [];
    this.proof = { answerTrust, pairings, pageLogin, rounds: own, elsewhere };
    this.pageEndpoint = new AskPageEndpoint({
      round: (handle) => this.#channels.rounds.get(handle),
      publicUrl,
      identify: login?.identifyVisitor ?? options.identify,
      trustsLinks: login !== undefined, // browsers send no keys and no tokens
      proof: this.proof,
      besides,
      maxUploadBytes: limits?.maxUploadBytes,
      log,
      clock,
      sealer,
    });
    this.#answerTrust = answerTrust;
    const standIns = this.#standInsOf(ask);
    this.#channels = new AskChannels({
      ...channels,
      standIns,
      answerTrust,
      page: this.pageEndpoint,
      nodes,
      log,
      clock,
      limits,
    });
    const { state } = around;
    this.#shared = nodes && state?.isShared ? new SharedRounds({ state, nodes, clock, log, own }) : undefined;
    if (this.#shared) this.#channels.rounds.watch(() => this.#shared!.touch());
  }

  /** Calls that wait for an answer go on. Servers learn of other capabilities when they are connected next. Throws BAD_OPTION. */
  replaceAsk(ask: GatewayAskOptions = {}): void {
    this.#channels.replace({ ...ask, standIns: this.#standInsOf(ask) });
    this.#answerTrust.replace(ask);
  }

  /** What it was before an update. */
  checkpoint(): { undo(): void } {
    const { roots } = this;
    const listed = roots?.list ?? [];
    const former = [this.#channels.checkpoint(), this.#answerTrust.checkpoint()];
    return {
      undo: () => {
        roots?.set(listed);
        for (const goBack of former) goBack();
      },
    };
  }

  #standInsOf(ask: GatewayAskOptions | undefined): GatewayAskOptions['standIns'] {
    return { ...(this.roots && { [LIST_ROOTS]: this.roots.answer }), ...ask?.standIns };
  }

  /** Capabilities that the gateway provides for clients that declare none. */
  get assisted(): ClientCapabilities | undefined {
    return this.#channels.assistedFor({ capabilities: {} });
  }

  /** A code that pairs one browser, and the page on which to enter it; the page is undefined if browsers cannot reach it. */
  async pair(user?: string): Promise<PairingCode & { link: string | undefined }> {
    const code = await (await this.#pairings()).invite(user);
    const address = await this.pageEndpoint.address();
    return { ...code, link: address && `${address}/ask?c=${code.code}` };
  }

  /** The calls that wait for an answer. */
  get calls(): Iterable<object> {
    return this.#channels.rounds.all;
  }

  /** Calls back whenever one of them begins or ends; returns a function that ends this. */
  watchCalls(callback: () => void): () => void {
    return this.#channels.rounds.watch(callback);
  }

  /** Their number. */
  get waiting(): number {
    return this.#channels.rounds.size;
  }

  async close(): Promise<void> {
    this.#channels.rounds.close();
    await this.#shared?.close();
    await this.pageEndpoint.close();
  }
}

/** Loaded when a person has to be asked. */
function pairingsOf(options: HumanChannelOptions, { clock, state }: HumanChannelContext): () => Promise<Pairings> {
  const { stateFolder, name, pairedAs = name ?? 'mcp-parley' } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  let made: Promise<Pairings> | undefined;
  const load = async (): Promise<Pairings> => {
    const [{ Pairings, pairingFileIn }, stores] = await Promise.all([
      import('./trust/pairings.ts'),
      import('./trust/pairing-store.ts'),
    ]);
    const isShared = state?.isShared === true;
    const own =
      stateFolder === undefined ? stores.pairingsInMemory() : stores.pairingsInFile(pairingFileIn(stateFolder));
    const store = isShared ? stores.pairingsInState(state) : own;
    const gateway = isShared ? stores.SHARED_GATEWAY : pairedAs;
    return new Pairings({ gateway, store, state, clock, limits });
  };
  return () => (made ??= load());
}

interface AskPageEndpointOptions {
  round(handle: string): QuestionRound | undefined;
  publicUrl: string | undefined;
  identify: Identify | undefined;
  /** Trust a browser that `identify` does not know, because it has the link. */
  trustsLinks?: boolean | undefined;
  proof: VisitorProof;
  /** Other pages of the separate port. */
  besides: () => Readonly<Record<string, HttpHandler>>;
  maxUploadBytes: number | undefined;
  sealer: Sealer;
  clock: Clock;
  log: Log;
}

const PATH = '/ask';

/**
 * Serves the page on which people answer questions: on the gateway's own port, under its public URL, or, if it has no port, on a
 * separate local one. The page is loaded when the first question needs it. A link is offered only if the user's browser can be
 * expected to reach it.
 */
class AskPageEndpoint {
  readonly #options: AskPageEndpointOptions;
  #port: Promise<PagePort> | undefined;
  #page: Promise<AskPage> | undefined;
  /** The URL of the gateway for browsers on this machine. */
  #origin: string | undefined;
  /** Whether clients may come from other machines. */
  #isOpen = false;
  #isClosed = false;
  /** Whether browsers can reach the page. A field, because it is read in every request of clients without a session. */
  isReachable = true;

  constructor(options: AskPageEndpointOptions) {
    this.#options = options;
  }

  /** Served on every port of the gateway. */
  readonly pages: Readonly<Record<string, HttpHandler>> = (() => {
    const serve: HttpHandler = (request, response) => {
      this.#load().then(
        (page) => page.pages[PATH](request, response),
        () => response.writeHead(503).end(),
      );
    };
    return { [PATH]: serve, [`${PATH}/`]: serve };
  })();

  /** The base URL of the pages; undefined if browsers cannot reach them. */
  async address(): Promise<string | undefined> {
    return this.isReachable ? (this.#options.publicUrl ?? this.#origin ?? this.#portUrl()) : undefined;
  }

  /** Identifies the sender of a request to other pages; undefined if no `identify` is configured. */
  get identify(): ((request: HttpRequest) => Promise<string | undefined>) | undefined {
    const { identify } = this.#options;
    return identify && ((request) => principalOf(identify, request));
  }

  /** What other pages of this server learn about it. */
  get host(): PagesHost {
    const { trustsLinks, proof } = this.#options;
    return { base: () => this.address(), identify: this.identify, trustsLinks, pageLogin: proof.pageLogin };
  }

  async link(round: QuestionRound): Promise<string> {
    const page = await this.#load();
    return page.link(round);
  }

  /** Called when the gateway listens at this URL. */
  opened(host: string, url: string): void {
    if (isLoopback(host)) this.#origin ??= url.slice(0, url.lastIndexOf('/')); // pages are siblings of the endpoint
    else this.#isOpen = true;
    this.#updateReachable();
  }

  /** Called when another HTTP server hosts the gateway, so that its address is unknown. */
  embedded(): void {
    this.#isOpen = true;
    this.#updateReachable();
  }

  #updateReachable(): void {
    this.isReachable = this.#options.publicUrl !== undefined || this.#origin !== undefined || !this.#isOpen;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#port)?.close();
  }

  /** The URL of the separate port for pages. */
  async #portUrl(): Promise<string> {
    if (this.#isClosed) throw cancelledError('gone');
    const { log } = this.#options;
    this.#port ??= import('../mcp/listen/http/page-port.ts').then(({ createPagePort }) =>
      createPagePort({ pages: () => ({ ...this.pages, ...this.#options.besides() }), log }),
    );
    return (await this.#port).url();
  }

  #load(): Promise<AskPage> {
    const { publicUrl, identify: _identify, maxUploadBytes, besides: _, ...rest } = this.#options;
    this.#page ??= import('./page/ask-page.ts').then(({ createAskPage }) =>
      createAskPage({
        ...rest,
        identify: this.identify,
        maxUploadBytes,
        baseUrl: () => publicUrl ?? this.#origin ?? this.#portUrl(),
      }),
    );
    return this.#page;
  }
}

/** The principal of a request with an invalid credential; it equals no real one. */
const STRANGER = '';

async function principalOf(identify: Identify, request: HttpRequest): Promise<string | undefined> {
  try {
    return (await identifyCaller(identify, request, { transport: 'http' }))?.principal;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.row.fault === 'client') return STRANGER;
    throw thrown;
  }
}
