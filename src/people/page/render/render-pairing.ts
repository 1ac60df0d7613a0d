// Renders the page on which a browser is paired, and the list of open questions for one that is.
import type { QuestionRound } from '../../question-round.ts';
import { clip, html } from './html.ts';
import type { Html } from './html.ts';
import { renderPage } from './render-page.ts';
import { fill } from '../locales/page-words.ts';
import type { PageWords } from '../locales/en.ts';

export interface PairingView {
  readonly token: string;
  /** From the link that the operator's terminal showed. */
  readonly code?: string | undefined;
  readonly problem?: 'wrong' | 'too-many' | undefined;
  /** Where the person may log in instead. `isOther`: somebody else is logged in at this browser. */
  readonly login?: { host: string; isOther: boolean } | undefined;
  readonly words: PageWords;
}

const MAX_NAME = 80;

export function renderPairing({ token, code = '', problem, login, words }: PairingView): string {
  const { pairing } = words;
  const wrong = problem === 'wrong' ? pairing.wrong : pairing.tooMany;
  const title = login && !problem ? pairing.logIn : pairing.title;
  // Who logs in need not know of pairing, which only the operator can do.
  const pairs = html`<p>${pairing.text}</p>
    <form method="post" action="?t=${token}" autocomplete="off">
      <label for="code">${pairing.code}</label>
      ${problem && html`<p class="error" id="code-error" role="alert"><strong>${words.errorPrefix}</strong> ${wrong}</p>`}
      <input
        id="code"
        name="code"
        value="${code}"
        class="short"
        required
        maxlength="20"
        autocapitalize="characters"
        spellcheck="false"
        ${problem ? html`aria-invalid="true" aria-describedby="code-error"` : ''}
      />
      <p class="hint">${pairing.hint}</p>
      <div class="buttons">
        <button name="do" value="pair" class="${login ? '' : 'primary'}">${pairing.pair}</button>
      </div>
    </form>`;
  const isShown = problem !== undefined || code !== '';
  const body = html`${login && renderLogin(login, token, words)}
    <div class="card">
      ${
        login
          ? html`<details${isShown ? html` open` : ''}><summary>${pairing.title}</summary>${pairs}</details>`
          : html`<h1>${pairing.title}</h1>
              ${pairs}`
      }
    </div>`;
  return renderPage({ title: problem ? `${words.errorPrefix} ${title}` : title, body, words });
}

function renderLogin({ host, isOther }: NonNullable<PairingView['login']>, token: string, words: PageWords): Html {
  const { pairing } = words;
  return html`<div class="card">
    <h1>${pairing.logIn}</h1>
    <p>${isOther ? pairing.somebodyElse : pairing.logInText}</p>
    <form method="post" action="?t=${token}">
      <div class="buttons">
        <button name="do" value="login" class="primary">
          ${fill(pairing.logInAt, { host: clip(host, MAX_NAME) })}
        </button>
      </div>
    </form>
  </div>`;
}

interface PageVisitor {
  /** The principal. */
  readonly name: string;
  readonly csrf: string;
}

/** Who is logged in, by the name that the issuer has for them. */
function renderVisitor({ name, csrf }: PageVisitor, { pairing }: PageWords): Html {
  const who = clip(name.slice(name.indexOf('#') + 1), MAX_NAME);
  return html`<form method="post" action="?t=">
    <p><bdi>${fill(pairing.loggedInAs, { who })}</bdi></p>
    <input type="hidden" name="csrf" value="${csrf}" />
    <div class="buttons">
      <button name="do" value="logout">${pairing.logOut}</button>
      <button name="do" value="login">${pairing.switch}</button>
    </div>
  </form>`;
}

export function renderOpenQuestions(
  open: readonly { link: string; about: QuestionRound['about'] }[],
  words: PageWords,
  visitor?: PageVisitor,
): string {
  const { pairing } = words;
  const title = open.length > 0 ? pairing.open : pairing.none;
  const items = open.map(
    ({ link, about: { tool, server, client } }) =>
      html`<li>
        <a href="${link}"><code>${clip(tool ?? words.theTool, MAX_NAME)}</code></a>
        ${server && html` <bdi>(${clip(server, MAX_NAME)})</bdi>`} – <bdi>${clip(client, MAX_NAME)}</bdi>
      </li>`,
  );
  const list =
    items.length > 0
      ? html`<ul>
          ${items}
        </ul>`
      : html`<p>${pairing.noneText}</p>`;
  return renderPage({
    title,
    body: html`<div class="card">
        <h1>${title}</h1>
        ${list}
      </div>
      ${visitor !== undefined && renderVisitor(visitor, words)}`,
    words,
  });
}
