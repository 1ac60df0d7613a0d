// The pages between a client and the login of a person: consent to one client, and what leads on. In the style of our other pages, in English.
import type { ConsentParts, FrontPages } from '../../kernel/login-pages.ts';
import type { HttpResponse } from '../../kernel/base/http.ts';
import { wordsFor } from './locales/page-words.ts';
import { clip, html } from './render/html.ts';
import type { Html } from './render/html.ts';
import { renderNotice, renderPage, sendPage } from './render/render-page.ts';

const MAX_NAME = 80;
const MAX_TEXT = 300;

export function createConsentPages(): FrontPages {
  const words = wordsFor('en');
  const send = (response: HttpResponse, status: number, page: string): void => {
    if (!response.headersSent) sendPage({ response }, status, { text: page });
  };
  return {
    consent: (response, parts) =>
      send(response, 200, renderPage({ title: 'Allow access?', body: toBody(parts), words })),
    goOn(response, url) {
      // A redirect would end a form elsewhere, which our pages forbid.
      response.setHeader('refresh', `0; url=${new URL(url).href}`);
      const body = html`<div class="card">
        <h1>One moment</h1>
        <p><a href="${new URL(url).href}">Go on</a></p>
      </div>`;
      send(response, 200, renderPage({ title: 'One moment', body, words }));
    },
    gone: (response) => send(response, 400, renderNotice(words.gone, 'Go back to your program and try again.', words)),
    refused: (response) =>
      send(response, 403, renderNotice('No access', 'Your account may not use this gateway. Ask its operator.', words)),
  };
}

function toBody({ client, clientId, redirect, scopes, resource, token }: ConsentParts): Html {
  return html`<header>
      <h1>Allow access?</h1>
      <p class="who">
        <strong>${clip(client, MAX_NAME)}</strong> wants to use <code>${clip(resource, MAX_TEXT)}</code> as you.
      </p>
    </header>
    <form method="post">
      <input type="hidden" name="token" value="${token}" />
      <div class="card">
        <dl>
          ${scopes.length > 0 && fact('It asks for', scopes.join(', '))}${fact('Its answer goes to', redirect)}${fact(
            'Its id',
            clientId,
          )}
        </dl>
        <p>Anybody can claim a name. Go on only if you have started this yourself, just now.</p>
      </div>
      <div class="buttons">
        <button name="do" value="allow" class="primary">Allow and log in</button>
        <button name="do" value="deny">Refuse</button>
      </div>
    </form>`;
}

function fact(name: string, value: string): Html {
  return html`<dt>${name}</dt>
    <dd><code>${clip(value, MAX_TEXT)}</code></dd>`;
}
