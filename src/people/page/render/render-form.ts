// Renders the page with the questions of a round: who asks, the form, and what happens next.
import { describeProblem } from '../../../kernel/form/answer-problem.ts';
import type { QuestionRound } from '../../question-round.ts';
import { fill } from '../locales/page-words.ts';
import type { PageWords } from '../locales/en.ts';
import { defaultEntry } from '../read-form.ts';
import type { FilledForm } from '../read-form.ts';
import { fillHtml, html, clip, when } from './html.ts';
import type { Html } from './html.ts';
import { renderConfirm, renderField, titleOf } from './render-field.ts';
import { renderPage } from './render-page.ts';
import type { Section } from './sections.ts';

interface FormView {
  readonly round: QuestionRound;
  readonly sections: readonly Section[];
  /** The submitted entries, if they had a problem. */
  readonly filled: readonly FilledForm[] | undefined;
  readonly token: string;
  readonly csrf: string;
  readonly minutes: number;
  readonly words: PageWords;
}

const MAX_MESSAGE = 20_000;
const MAX_NAME = 80;
/** Above this, hours are shown. */
const MAX_MINUTES = 180;
const MAX_SHOWN = 2000;

export function renderForm(view: FormView): string {
  const { sections, words, token, csrf, round } = view;
  const hasFile = sections.some(({ fields }) => fields.some(({ kind }) => kind === 'file'));
  const title = sections.length === 1 ? words.title : fill(words.titleMany, { count: sections.length });
  const body = html`<header>
      <h1>${title}</h1>
      ${renderWho(round, words)}
    </header>
    ${view.filled && renderErrors(view, view.filled)}
    <form method="post" action="?t=${token}" ${when(hasFile, 'enctype="multipart/form-data"')}>
      <input type="hidden" name="csrf" value="${csrf}" />
      ${sections.map((section, index) => renderSection(view, section, index))}${renderButtons(round, sections, words)}
    </form>
    ${renderHandOver(view)}${renderNext(view)}`;
  return renderPage({ title: view.filled ? `${words.errorPrefix} ${title}` : title, body, words });
}

function renderWho({ about, questions }: QuestionRound, words: PageWords): Html {
  const { tool, server, client } = about;
  const names = [
    tool && html`<code>${clip(tool, MAX_NAME)}</code>`,
    server && html` <bdi>(${clip(server, MAX_NAME)})</bdi>`,
  ];
  const isOwn = questions.every(({ ask }) => ask.ofGateway === true);
  const asksNamed = isOwn ? words.gatewayAsks : words.asksNamed;
  const asks = tool || server ? fillHtml(asksNamed, { who: html`${names.map((one) => one || '')}` }) : words.asks;
  const from = fillHtml(words.forClient, { client: html`<bdi>${clip(client, MAX_NAME)}</bdi>` });
  return html`<p class="who"><strong>${asks}.</strong> ${from}</p>`;
}

function renderSection(view: FormView, section: Section, index: number): Html {
  const { words, sections } = view;
  const filled = view.filled?.[index];
  const isOneOfMany = sections.length > 1;
  const { name } = section;
  const heading =
    isOneOfMany &&
    html`<h2 id="${name}-title">${fill(words.question, { number: index + 1, count: sections.length })}</h2>`;
  const message = html`<p class="message">
    <span class="text" dir="auto">${clip(section.message, section.isWhole ? Infinity : MAX_MESSAGE, words.cut)}</span>
  </p>`;
  return html`<section class="card" ${isOneOfMany && html` aria-labelledby="${name}-title"`}>
    ${heading}${message}
    ${section.trouble === 'too-much' ? html`<p class="notice">${words.tooMuch}</p>` : renderFields(view, section, filled)}${section.url && renderTarget(section, filled, words)}${
      isOneOfMany &&
      html`<label class="tick skip"
        ><input type="checkbox" name="${name}.skip" ${when(filled?.isSkipped ?? false, 'checked')} />
        <span>${words.skip}</span></label
      >`
    }
  </section> `;
}

function renderFields({ words }: FormView, section: Section, filled: FilledForm | undefined): Html {
  const render = section.isConfirm ? renderConfirm : renderField;
  return html`${section.fields.map((field, index) =>
    render({
      field,
      entry: filled?.entries[index] ?? defaultEntry(field),
      problem: filled?.problems.get(index),
      name: `${section.name}.${index}`,
      words,
    }),
  )}`;
}

function renderErrors({ sections, words }: FormView, filled: readonly FilledForm[]): Html {
  const items = filled.flatMap(({ problems }, index) => {
    const { name, fields } = sections[index]!;
    return [...problems].map(([at, problem]) => {
      const [target, title] = at === -1 ? [`${name}.done`, words.haveDone] : [`${name}.${at}`, titleOf(fields[at]!)];
      return html`<li>
        <a href="#${target}"><bdi>${title}</bdi>: ${clip(describeProblem(problem, words.problems), MAX_NAME * 4)}</a>
      </li>`;
    });
  });
  const isLost = sections.some(({ fields }) => fields.some(({ kind }) => kind === 'file' || kind === 'secret'));
  const title = items.length === 1 ? words.errorTitle : fill(words.errorsTitle, { count: items.length });
  return html`<div class="errors" role="alert" tabindex="-1" autofocus aria-labelledby="errors-title">
    <h2 id="errors-title">${title}</h2>
    <ul>
      ${items}
    </ul>
    ${isLost && html`<p>${words.sendAgain}</p>`}
  </div> `;
}

function renderButtons({ isOthers }: QuestionRound, sections: readonly Section[], words: PageWords): Html {
  const first = sections[0]!;
  const isUnanswerable = sections.every(({ trouble }) => trouble !== undefined);
  const isPlain = sections.every(({ fields, url }) => fields.length === 0 && !url);
  const accept = first.isAlone ? words.haveDone : isPlain ? words.agree : words.send;
  const cancel =
    isOthers !== true && html`<button name="do" value="cancel" formnovalidate class="quiet">${words.cancel}</button>`;
  if (first.isConfirm) {
    const name = `${first.name}.0`;
    return html`<div class="buttons" role="group" aria-labelledby="${name}-label">
      <button id="${name}" name="${name}" value="true" class="primary">${words.yes}</button
      ><button name="${name}" value="false">${words.no}</button>${cancel}
    </div>`;
  }
  return html`<div class="buttons">
    ${!isUnanswerable && html`<button name="do" value="accept" class="primary">${accept}</button>`}<button
      name="do"
      value="decline"
      formnovalidate
    >
      ${words.decline}</button
    >${cancel}
  </div>`;
}

/** A form of its own: nothing has to be filled in, and nothing is sent with it. */
function renderHandOver({ round, words, token, csrf }: FormView): Html | false {
  const { handOver } = round;
  if (round.isHandedOverTooOften) return html`<p class="hand">${words.handedOverTooOften}</p>`;
  if (!handOver || handOver.to.length === 0) return false;
  return html`<details class="hand">
    <summary>${words.handOver}</summary>
    <form method="post" action="?t=${token}">
      <input type="hidden" name="csrf" value="${csrf}" />
      <label for="to">${words.handOverTo}</label>
      <select id="to" name="to">
        ${handOver.to.map((name) => html`<option value="${name}">${clip(name, MAX_NAME)}</option>`)}
      </select>
      <div class="buttons"><button name="do" value="hand-over">${words.handOver}</button></div>
    </form>
  </details>`;
}

function renderNext({ round, words, minutes }: FormView): Html {
  const who = clip(round.about.server ?? round.about.tool ?? words.theTool, MAX_NAME);
  const left = minutes === 1 ? words.oneMinute : fill(...leftOf(minutes, words));
  return html`<footer>
    <p dir="auto">${fill(words.next, { who })}</p>
    <p>${words.trust} ${left}</p>
  </footer>`;
}

function leftOf(minutes: number, words: PageWords): [string, Record<string, number>] {
  return minutes > MAX_MINUTES ? [words.hours, { hours: Math.floor(minutes / 60) }] : [words.minutes, { minutes }];
}

/** A question that is answered on another website, with the address of the link. */
function renderTarget({ name, url, isAlone }: Section, filled: FilledForm | undefined, words: PageWords): Html {
  const { href, host, isWeb, isLocal } = url!;
  if (!isWeb)
    return html`<p class="notice">${words.badAddress}</p>
      <p class="address"><code>${clip(href, MAX_SHOWN)}</code></p>`;
  const problem = filled?.problems.get(-1);
  return html`<p>
      ${words.leadsTo} <strong class="host"><bdi>${host}</bdi></strong>
    </p>
    ${
      isLocal
        ? html`<p class="notice">${words.localAddress}</p>`
        : html`<p>
            <a class="go" href="${href}" target="_blank" rel="noopener noreferrer"
              >${fill(words.goTo, { host })} <span class="hint">(${words.newTab})</span></a
            >
          </p>`
    }
    <p class="hint">${words.wholeAddress}</p>
    <p class="address"><code>${clip(href, MAX_SHOWN)}</code></p>
    ${
      !isAlone &&
      html`<div class="field${problem && ' wrong'}">
        ${
          problem &&
          html`<p class="error" id="${name}.done-error">
            <strong>${words.errorPrefix}</strong> ${describeProblem(problem, words.problems)}
          </p>`
        }<label class="tick"
          ><input
            type="checkbox"
            id="${name}.done"
            name="${name}.done"
            ${when(filled?.isDone ?? false, 'checked')}${when(problem !== undefined, `aria-invalid="true" aria-describedby="${name}.done-error"`)}
          />
          <span>${words.haveDone}</span></label
        >
      </div>`
    }`;
}
