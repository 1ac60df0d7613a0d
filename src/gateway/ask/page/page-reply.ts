// Sends replies to a browser, always with the same strict headers, and to HEAD without a body.
import type { HttpRequest, HttpResponse } from '../../../shared/http.ts';
import { toSize } from '../../../protocol/form/check-file-value.ts';
import type { RoundAnswer, ClosedRound } from '../question-round.ts';
import { HEADERS, renderNotice } from './render/render-page.ts';
import { fill } from './locales/page-words.ts';
import type { PageWords } from './locales/page-words.ts';

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
    const response = this.#response;
    response.removeHeader('access-control-allow-origin'); // no other page may read this, even if it may call the gateway
    response.writeHead(status, {
      ...HEADERS,
      'content-length': Buffer.byteLength(text),
      vary: 'Accept-Language, Cookie',
    });
    response.end(this.#request.method === 'HEAD' ? undefined : text);
  }

  methods(allowed: readonly string[]): void {
    this.#response.setHeader('allow', allowed.join(', '));
    this.#notice(405, this.#words.notAForm, this.#words.notAFormText);
  }

  /** Redirects to the same link, so that a reload sends nothing twice. */
  seeAgain(token: string, headers: Record<string, string> = {}): void {
    this.#response.writeHead(303, { ...HEADERS, ...headers, location: `?t=${token}`, 'content-length': 0 });
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
