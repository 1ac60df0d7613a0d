// Renders the page on which a browser is paired, and the list of open questions for one that is.
import type { QuestionRound } from '../../question-round.ts';
import { clip, html } from './html.ts';
import { renderPage } from './render-page.ts';
import type { PageWords } from '../locales/page-words.ts';

export interface PairingView {
  readonly token: string;
  /** From the link that the operator's terminal showed. */
  readonly code?: string | undefined;
  readonly problem?: 'wrong' | 'too-many' | undefined;
  readonly words: PageWords;
}

const MAX_NAME = 80;

export function renderPairing({ token, code = '', problem, words }: PairingView): string {
  const { pairing } = words;
  const wrong = problem === 'wrong' ? pairing.wrong : pairing.tooMany;
  const body = html`<div class="card">
    <h1>${pairing.title}</h1>
    <p>${pairing.text}</p>
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
      <div class="buttons"><button name="do" value="pair" class="primary">${pairing.pair}</button></div>
    </form>
  </div>`;
  return renderPage({ title: problem ? `${words.errorPrefix} ${pairing.title}` : pairing.title, body, words });
}

export function renderOpenQuestions(
  open: readonly { link: string; about: QuestionRound['about'] }[],
  words: PageWords,
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
    </div>`,
    words,
  });
}
