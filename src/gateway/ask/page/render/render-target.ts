// Renders a question that is answered on another website, with the address of the link.
import { describeProblem } from '../../../../protocol/form/answer-problem.ts';
import { html, clip, when } from './html.ts';
import type { Html } from './html.ts';
import type { FilledForm } from '../read-form.ts';
import type { Section } from './sections.ts';
import { fill } from '../locales/page-words.ts';
import type { PageWords } from '../locales/page-words.ts';

const MAX_SHOWN = 2000;

export function renderTarget({ name, url, isAlone }: Section, filled: FilledForm | undefined, words: PageWords): Html {
  const { href, host, isWeb } = url!;
  if (!isWeb)
    return html`<p class="notice">${words.badAddress}</p>
      <p class="address"><code>${clip(href, MAX_SHOWN)}</code></p>`;
  const problem = filled?.problems.get(-1);
  return html`<p>
      ${words.leadsTo} <strong class="host"><bdi>${host}</bdi></strong>
    </p>
    <p>
      <a class="go" href="${href}" target="_blank" rel="noopener noreferrer"
        >${fill(words.goTo, { host })} <span class="hint">(${words.newTab})</span></a
      >
    </p>
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
