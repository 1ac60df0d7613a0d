// One request to the page: its link, its context, and the replies to it.
import { toSize } from '../../kernel/form/check-field.ts';
import { markIn, withoutMark } from '../../kernel/nodes/nodes.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { Sealer } from '../../kernel/crypto/seal.ts';
import type { HttpRequest, HttpResponse } from '../../kernel/base/http.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { ClosedRound, QuestionRound, RoundAnswer } from '../question-round.ts';
import { fill } from './locales/page-words.ts';
import type { PageWords } from './locales/en.ts';
import type { PageOwners } from './page-owners.ts';
import { HEADERS, renderNotice, sendPage } from './render/render-page.ts';

/**
 * The links to a page. Their content is sealed, so they can be neither guessed nor altered. Only the first browser that opens one can use it
 * (page-owners.ts). It ends with its round, even if the system time jumps.
 */
interface Links {
  readonly path: string;
  /** The handle; undefined for any invalid link, without a reason. */
  open(token: string): string | undefined;
}

/** What all requests share. */
export interface PageContext {
  readonly links: Links;
  readonly owners: PageOwners;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBytes: number;
}

export interface PageVisit extends PageContext {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly reply: PageReply;
  readonly words: PageWords;
  /** The sealed part of the link, and the handle in it. */
  readonly token: string;
  readonly handle: string;
  /** The round, while it is open. */
  readonly round: QuestionRound | undefined;
  /** Why the round is closed, if the holder of the link may know. */
  readonly closed: ClosedRound['closed'] | undefined;
  /** The browser's secret, if it owns the round. */
  readonly browser: string | undefined;
  /** Who is at the browser, if that had to be proven. */
  readonly who?: string | undefined;
  /** The URL at which browsers reach us. */
  readonly base: URL;
}

/** Sends replies to a browser, always with the same strict headers, and to HEAD without a body. */
export class PageReply {
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #words: PageWords;

  constructor(request: HttpRequest, response: HttpResponse, words: PageWords) {
    this.#request = request;
    this.#response = response;
    this.#words = words;
  }

  page(status: number, text: string): void {
    const headers = { ...HEADERS, vary: 'Accept-Language, Cookie' };
    sendPage({ request: this.#request, response: this.#response }, status, { text, headers });
  }

  methods(allowed: readonly string[]): void {
    this.#response.setHeader('allow', allowed.join(', '));
    this.#notice(405, this.#words.notAForm, this.#words.notAFormText);
  }

  /** Redirects to the same link, so that a reload sends nothing twice. */
  seeAgain(token: string, headers: Record<string, string> = {}, path = ''): void {
    this.#response.writeHead(303, { ...HEADERS, ...headers, location: `${path}?t=${token}`, 'content-length': 0 });
    this.#response.end();
  }

  done(outcome: RoundAnswer['action']): void {
    const { answered, declined, cancelled, goBack } = this.#words;
    const title = { accept: answered, decline: declined, cancel: cancelled }[outcome];
    this.page(200, renderNotice(title, goBack, this.#words, outcome === 'accept'));
  }

  /** The same for every link that does not work. */
  gone(): void {
    this.#notice(410, this.#words.gone, this.#words.goneText);
  }

  handedOver(): void {
    this.#notice(200, this.#words.handedOver, this.#words.goBack);
  }

  closed(why?: ClosedRound['closed']): void {
    const { closed, closedText, paused, goBack, reasons } = this.#words;
    this.#notice(409, why === 'paused' ? paused : closed, `${why ? reasons[why] : closedText} ${goBack}`);
  }

  forged(): void {
    this.#notice(403, this.#words.forged, this.#words.forgedText);
  }

  notAForm(): void {
    this.#notice(415, this.#words.notAForm, this.#words.notAFormText);
  }

  tooLarge(maxBytes: number): void {
    this.#notice(413, this.#words.tooLarge, fill(this.#words.tooLargeText, { size: toSize(maxBytes) }));
  }

  #notice(status: number, title: string, text: string): void {
    this.page(status, renderNotice(title, text, this.#words));
  }
}

const PURPOSE = 'ask-link';
const MAX_LENGTH = 1000;
export const ASK_PATH = '/ask';

export function askLinks(sealer: Sealer): Links {
  const open = (token: string): string | undefined =>
    token.length > MAX_LENGTH ? undefined : (sealer.open(PURPOSE, '', withoutMark(token)) as string | undefined);
  return { path: ASK_PATH, open };
}

/** `base` may have a path, if a proxy puts this gateway below one. `secret`: the part of the path below which browsers that are paired send their cookie. */
export function toLink(sealer: Sealer, { handle }: QuestionRound, base: string, secret?: string): string {
  return `${base.replace(/\/+$/, '')}${toAskPath(secret)}?t=${sealer.seal(PURPOSE, '', handle)}${markIn(handle)}`;
}

export function toAskPath(secret: string | undefined): string {
  return secret === undefined ? ASK_PATH : `${ASK_PATH}/${secret}`;
}

/** The secret part of the path, if it has one. */
export function secretIn(url: string): string | undefined {
  return /\/ask\/([^/?]+)(?:\?|$)/.exec(url)?.[1];
}

export function tokenOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : (new URLSearchParams(url.slice(query)).get('t') ?? '');
}
