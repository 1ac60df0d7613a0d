// The way from a link to the page of a round of questions: on the gateway's own port, under its public URL, or, where it serves
// only this machine by other means, on a port of its own. Loaded and opened when the first question needs it.
// A link is given only where a browser of the user can be expected to reach it.
import { isLoopback } from './accept/guard.ts';
import { identifyCaller } from './accept/identify.ts';
import type { Identify } from './accept/identify.ts';
import type { PagePort } from './accept/http/page-port.ts';
import type { AskPage } from './ask/page/ask-page.ts';
import type { QuestionRound } from './ask/question-round.ts';
import type { Clock } from '../shared/clock.ts';
import { GatewayError } from '../shared/errors.ts';
import type { HttpHandler, HttpRequest } from '../shared/http.ts';
import type { Log } from '../shared/log.ts';
import type { Sealer } from '../shared/crypto/seal.ts';

export interface AskPageEndpointOptions {
  round(handle: string): QuestionRound | undefined;
  publicUrl: string | undefined;
  identify: Identify | undefined;
  /** What else is served on a port of its own. */
  besides: () => Readonly<Record<string, HttpHandler>>;
  maxRequestBytes: number | undefined;
  sealer: Sealer;
  clock: Clock;
  log: Log;
}

const PATH = '/ask';

export class AskPageEndpoint {
  readonly #options: AskPageEndpointOptions;
  #port: Promise<PagePort> | undefined;
  #page: Promise<AskPage> | undefined;
  /** Where browsers on this machine reach a port of the gateway. */
  #origin: string | undefined;
  /** Clients may come from elsewhere. */
  #isOpen = false;
  #isClosed = false;

  constructor(options: AskPageEndpointOptions) {
    this.#options = options;
  }

  /** To be served on every port of the gateway. */
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

  /** How others reach it; undefined where nobody can be expected to. */
  async address(): Promise<string | undefined> {
    return this.isReachable ? (this.#options.publicUrl ?? this.#origin ?? this.#portUrl()) : undefined;
  }

  /** Who sends a request, for other pages than this one; undefined where nobody can tell. */
  get identify(): ((request: HttpRequest) => Promise<string | undefined>) | undefined {
    const { identify } = this.#options;
    return identify && ((request) => principalOf(identify, request));
  }

  async link(round: QuestionRound): Promise<string> {
    const page = await this.#load();
    return page.link(round);
  }

  /** The gateway listens here. */
  opened(host: string, url: string): void {
    if (isLoopback(host)) this.#origin ??= url.slice(0, url.lastIndexOf('/')); // pages stand beside the endpoint
    else this.#isOpen = true;
  }

  /** Clients come in through a server of somebody else, whose address is not known. */
  embedded(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#port)?.close();
  }

  /** Of the port that is opened for pages alone. */
  async #portUrl(): Promise<string> {
    if (this.#isClosed) throw new GatewayError('CANCELLED');
    const { log } = this.#options;
    this.#port ??= import('./accept/http/page-port.ts').then(({ createPagePort }) =>
      createPagePort({ pages: () => ({ ...this.pages, ...this.#options.besides() }), log }),
    );
    return (await this.#port).url();
  }

  #load(): Promise<AskPage> {
    const { publicUrl, identify: _identify, maxRequestBytes, besides: _, ...rest } = this.#options;
    this.#page ??= import('./ask/page/ask-page.ts').then(({ createAskPage }) =>
      createAskPage({
        ...rest,
        identify: this.identify,
        maxRequestBytes,
        baseUrl: () => publicUrl ?? this.#origin ?? this.#portUrl(),
      }),
    );
    return this.#page;
  }
}

async function principalOf(identify: Identify, request: HttpRequest): Promise<string | undefined> {
  return (await identifyCaller(identify, request, 'http')).principal;
}
