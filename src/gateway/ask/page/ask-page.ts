// The page on which a person answers a round, at one link. Looking at the link changes nothing, so that whatever fetches
// links before people do cannot use it up: the first browser that asks to continue gets a cookie, and the round is its own.
// 1. Every page but the first is for the browser with the cookie of its round. 2. Nothing is answered but by our own form,
// sent from our own origin. 3. A link that does not work gives no reason.
import type { Clock } from '../../../shared/clock.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../shared/http.ts';
import { DEFAULT_LIMITS } from '../../../shared/limits.ts';
import type { Log } from '../../../shared/log.ts';
import type { Sealer } from '../../../shared/seal.ts';
import type { Round } from '../round.ts';
import { ASK_PATH, openLink, toLink, tokenOf } from './link.ts';
import { Openers } from './openers.ts';
import { Reply } from './reply.ts';
import { receiveForm } from './receive-form.ts';
import { showRound } from './show-round.ts';
import type { Site, Visit } from './visit.ts';
import { wordsFor } from './words.ts';

export interface AskPageOptions {
  /** The round of a handle, while there is one. */
  round: (handle: string) => Round | undefined;
  sealer: Sealer;
  clock: Clock;
  log: Log;
  /** Where browsers reach this gateway, e.g. https://gateway.example.com. */
  baseUrl: () => string | Promise<string>;
  /** Who opens the page, where that can be told from a browser's request; it must be whose call it is. */
  identify?: ((request: HttpRequest) => string | undefined | Promise<string | undefined>) | undefined;
  /** Largest form with its files, in bytes. */
  maxRequestBytes?: number | undefined;
}

export interface AskPage {
  link(round: Round): Promise<string>;
  readonly pages: Record<typeof ASK_PATH, HttpHandler>;
}

const METHODS = ['GET', 'HEAD', 'POST'];

export function createAskPage(options: AskPageOptions): AskPage {
  const { sealer, clock, log, maxRequestBytes: maxBytes = DEFAULT_LIMITS.maxRequestBytes } = options;
  const site: Site = { sealer, clock, log, maxBytes, openers: new Openers(clock) };
  return {
    link: async (round) => toLink(sealer, round, await options.baseUrl()),
    pages: {
      [ASK_PATH]: (request, response) => {
        receive(options, site, request, response).catch((cause: unknown) => {
          if (response.destroyed) return; // the browser hung up
          log.error({ cause }, 'ask.page-failed');
          if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
          response.end('Something went wrong here. Please try again.\n');
        });
      },
    },
  };
}

async function receive(
  options: AskPageOptions,
  site: Site,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const words = wordsFor(request.headers['accept-language']);
  const reply = new Reply(request, response, words);
  if (!METHODS.includes(request.method!)) return reply.methods(METHODS);
  const token = tokenOf(request.url ?? '');
  const handle = openLink(site.sealer, token);
  if (handle === undefined) return reply.gone();
  const round = options.round(handle);
  if (round && !(await isTheirs(options, round, request))) return reply.notYours();
  const browser = site.openers.browserOf(handle, request.headers.cookie);
  const base = new URL(await options.baseUrl());
  const visit: Visit = { ...site, request, reply, words, token, handle, round, browser, base };
  return request.method === 'POST' ? receiveForm(visit) : showRound(visit);
}

async function isTheirs({ identify }: AskPageOptions, { principal }: Round, request: HttpRequest): Promise<boolean> {
  return !identify || (await identify(request)) === principal;
}
