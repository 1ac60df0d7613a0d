// Renders the frame of every page and the pages that only show a message. No scripts and no external resources.
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { PAGE_HEADERS } from '../../../kernel/base/http.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { STYLE } from './style.ts';
import type { PageWords } from '../locales/en.ts';

interface PageParts {
  readonly title: string;
  readonly body: Html;
  readonly words: PageWords;
}

export const HEADERS: Record<string, string> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${sha256(STYLE, 'base64')}'`,
    'img-src data:',
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  ...PAGE_HEADERS,
};

/** Sends a page that no other page may read, even if it may call the gateway; to HEAD without a body. */
export function sendPage(
  { request, response }: { request?: HttpRequest; response: HttpResponse },
  status: number,
  { text, headers = HEADERS }: { text: string; headers?: Record<string, string> },
): void {
  response.removeHeader('access-control-allow-origin');
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
  response.end(request?.method === 'HEAD' ? undefined : text);
}

export function renderPage({ title, body, words }: PageParts): string {
  const style: Html = { html: `<style>${STYLE}</style>` };
  return html`<!doctype html>
    <html lang="${words.lang}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${style}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `.html;
}

/** The first page of a link. It does not show the question, because link previews see it. */
export function renderWaiting(token: string, words: PageWords): string {
  const body = html`<div class="card">
    <h1>${words.waiting}</h1>
    <p>${words.waitingText}</p>
    <form method="post" action="?t=${token}">
      <div class="buttons"><button name="do" value="open" class="primary">${words.open}</button></div>
    </form>
  </div>`;
  return renderPage({ title: words.waiting, body, words });
}

export function renderNotice(title: string, text: string, words: PageWords, isDone = false): string {
  return renderPage({
    title,
    body: html`<div class="card${isDone && ' done'}">
      <h1>${title}</h1>
      <p>${text}</p>
    </div>`,
    words,
  });
}
