// Serves the page on which people answer questions: on the gateway's own port, under its public URL, or, if it has no port, on a
// separate local one. The page is loaded when the first question needs it. A link is offered only if the user's browser can be
// expected to reach it.
import { isLoopback } from './accept/guard.ts';
import { identifyCaller } from './accept/identify.ts';
import type { Identify } from './accept/identify.ts';
import type { PagePort } from './accept/http/page-port.ts';
import type { AskPage } from './ask/page/ask-page.ts';
import type { VisitorProof } from './ask/page/prove-visitor.ts';
import type { QuestionRound } from './ask/question-round.ts';
import type { PagesHost } from '../protocol/target.ts';
import type { Clock } from '../shared/clock.ts';
import { GatewayError } from '../shared/errors.ts';
import type { HttpHandler, HttpRequest } from '../shared/http.ts';
import type { Log } from '../shared/log.ts';
import type { Sealer } from '../shared/crypto/seal.ts';

export interface AskPageEndpointOptions {
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

export class AskPageEndpoint {
  readonly #options: AskPageEndpointOptions;
  #port: Promise<PagePort> | undefined;
  #page: Promise<AskPage> | undefined;
  /** The URL of the gateway for browsers on this machine. */
  #origin: string | undefined;
  /** Whether clients may come from other machines. */
  #isOpen = false;
  #isClosed = false;

  constructor(options: AskPageEndpointOptions) {
    this.#options = options;
  }

  /** Served on every port of the gateway. */
  readonly pages: Record<typeof PATH, HttpHandler> = {
    [PATH]: (request, response) => {
      this.#load().then(
        (page) => page.pages[PATH](request, response),
        () => response.writeHead(503).end(),
      );
    },
  };

  get isReachable(): boolean {
    return this.#options.publicUrl !== undefined || this.#origin !== undefined || !this.#isOpen;
  }

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
  }

  /** Called when another HTTP server hosts the gateway, so that its address is unknown. */
  embedded(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#port)?.close();
  }

  /** The URL of the separate port for pages. */
  async #portUrl(): Promise<string> {
    if (this.#isClosed) throw new GatewayError('CANCELLED');
    const { log } = this.#options;
    this.#port ??= import('./accept/http/page-port.ts').then(({ createPagePort }) =>
      createPagePort({ pages: () => ({ ...this.pages, ...this.#options.besides() }), log }),
    );
    return (await this.#port).url();
  }

  #load(): Promise<AskPage> {
    const { publicUrl, identify: _identify, maxUploadBytes, besides: _, ...rest } = this.#options;
    this.#page ??= import('./ask/page/ask-page.ts').then(({ createAskPage }) =>
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
