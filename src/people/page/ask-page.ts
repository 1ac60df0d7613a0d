// The page at which a person answers a round, behind one link. Opening the link changes nothing, so link previews
// cannot use it up: the first browser that continues gets a cookie and owns the round.
// 1. Every page but the first needs the cookie of its round.
// 2. Only our own form, sent from our own origin, can answer.
// 3. A link that does not work gives no reason.
// 4. A question that only a person may answer is shown to a proven browser alone (prove-visitor.ts).
import type { Clock } from '../../kernel/base/clock.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../kernel/base/http.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';
import { isSameSecret } from '../../kernel/crypto/lazy-crypto.ts';
import type { Sealer } from '../../kernel/crypto/seal.ts';
import type { ClosedRound, QuestionRound } from '../question-round.ts';
import { ASK_PATH, askLinks, secretIn, toLink, tokenOf, PageReply } from './page-visit.ts';
import type { PageContext, PageVisit } from './page-visit.ts';
import { MemoryPageOwners } from './page-owners.ts';
import { needsProof, pairBrowser, showOpenQuestions } from './prove-visitor.ts';
import type { VisitorProof } from './prove-visitor.ts';
import { receiveForm, showRound } from './serve-round.ts';
import { wordsFor } from './locales/page-words.ts';
import type { PageWords } from './locales/en.ts';

type Found = QuestionRound | ClosedRound | undefined;

export interface AskPageOptions {
  /** The open round of a handle; or how it ended, if the holder of its link may know. */
  round: (handle: string) => Found | Promise<Found>;
  sealer: Sealer;
  clock: Clock;
  log: Log;
  /** The URL at which browsers reach this gateway, such as https://gateway.example.com. */
  baseUrl: () => string | Promise<string>;
  /** Identifies the person from the browser's request; it must be the principal of the call. */
  identify?: ((request: HttpRequest) => string | undefined | Promise<string | undefined>) | undefined;
  /** Trust a browser that `identify` does not know, because it has the link. */
  trustsLinks?: boolean | undefined;
  /** Proves who is at the browser, for questions that only a person may answer. */
  proof?: VisitorProof | undefined;
  /** Largest form with its files, in bytes. */
  maxUploadBytes?: number | undefined;
}

/** The options of a page with its own links and cookies. */
interface PageOptions extends Omit<AskPageOptions, 'identify'>, Pick<PageContext, 'links' | 'owners'> {
  /** Whether this request may come from the person that is asked. */
  isTheirs(principal: string, request: HttpRequest): boolean | Promise<boolean>;
  /** Changes the texts, for people who are asked outside of a conversation. */
  words?: ((words: PageWords) => PageWords) | undefined;
}

export interface AskPage {
  link(round: QuestionRound): Promise<string>;
  readonly pages: Record<typeof ASK_PATH, HttpHandler>;
}

const METHODS = ['GET', 'HEAD', 'POST'];

export function createAskPage(options: AskPageOptions): AskPage {
  const { sealer, clock, identify, trustsLinks = false } = options;
  const isTheirs = async (principal: string, request: HttpRequest) => {
    if (!identify) return true;
    const visitor = await identify(request);
    return visitor === undefined ? trustsLinks : visitor === principal;
  };
  const page = { ...options, isTheirs, links: askLinks(sealer), owners: new MemoryPageOwners(clock) };
  return {
    link: async (round) => toLink(sealer, round, await options.baseUrl(), await secretFor(options.proof, round)),
    pages: { [ASK_PATH]: servePage(page) },
  };
}

/** Only for questions that need a proven browser: links to others are seen by models. */
async function secretFor(proof: VisitorProof | undefined, round: QuestionRound): Promise<string | undefined> {
  return proof && needsProof(proof, round) ? (await proof.pairings()).path() : undefined;
}

export function servePage(options: PageOptions): HttpHandler {
  const { sealer, clock, log, links, owners, maxUploadBytes: maxBytes = DEFAULT_LIMITS.maxUploadBytes } = options;
  const site: PageContext = { sealer, clock, log, maxBytes, links, owners };
  return (request, response) => {
    receive(options, site, request, response).catch((cause: unknown) => {
      if (response.destroyed) return; // the browser hung up
      log.error({ cause }, 'ask.page-failed');
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end('Something went wrong here. Please try again.\n');
    });
  };
}

async function receive(
  options: PageOptions,
  site: PageContext,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const { words: toOwn = (all: PageWords) => all } = options;
  const words = toOwn(wordsFor(request.headers['accept-language']));
  const reply = new PageReply(request, response, words);
  if (!METHODS.includes(request.method!)) return reply.methods(METHODS);
  const token = tokenOf(request.url ?? '');
  const base = new URL(await options.baseUrl());
  const at = { ...site, request, response, reply, words, token, base };
  const secret = options.proof && secretIn(request.url ?? '');
  if (secret !== undefined && !isSameSecret(secret, await (await options.proof!.pairings()).path()))
    return reply.gone();
  if (token === '' && options.proof?.answerTrust.isStrict) {
    const visit = { ...at, handle: '', round: undefined, closed: undefined, browser: undefined };
    return showOpenQuestions(visit, options.proof, (one) => toLink(site.sealer, one, base.href, secret));
  }
  const handle = site.links.open(token);
  if (handle === undefined) return reply.gone();
  const found = await options.round(handle);
  if (found && !(await options.isTheirs(found.principal, request))) return reply.gone(); // like a link to nothing
  const [round, closed] = found && 'closed' in found ? [undefined, found.closed] : [found, undefined];
  const browser = site.owners.browserOf(handle, request.headers.cookie);
  const mustProve = options.proof !== undefined && needsProof(options.proof, round);
  const who = mustProve ? await options.proof!.answerTrust.proofOf(round!, request) : undefined;
  const visit: PageVisit = { ...at, handle, round, closed, browser, who };
  if (mustProve && who === undefined) return pairBrowser(visit, options.proof!);
  return request.method === 'POST' ? receiveForm(visit) : showRound(visit);
}
