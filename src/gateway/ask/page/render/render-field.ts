// One field of the form: its label, what to know beforehand, what was wrong, and the input; all tied together for those who
// hear the page instead of seeing it.
import { describeProblem } from '../../form/problem.ts';
import type { Problem } from '../../form/problem.ts';
import type { Field } from '../../form/form-field.ts';
import type { Entry } from '../entry.ts';
import { hintsOf } from '../words/hints.ts';
import { html, shown, when } from './html.ts';
import type { Html } from './html.ts';
import { isGroup, renderGroup, renderInput } from './render-input.ts';
import type { Words } from '../words/words.ts';

export interface FieldView {
  readonly field: Field;
  readonly entry: Entry;
  readonly problem: Problem | undefined;
  /** The name of its input, and the beginning of its ids. */
  readonly name: string;
  readonly words: Words;
}

const MAX_TITLE = 300;
const MAX_DESCRIPTION = 4000;

export function renderField(view: FieldView): Html {
  const { field, problem, name, words } = view;
  const hints = hintsOf(field, words);
  const { description } = field;
  const before = html`${
    description !== undefined &&
    html`<p class="hint" id="${name}-about">
      <span class="text" dir="auto">${shown(description, MAX_DESCRIPTION, words.cut)}</span>
    </p>`
  }${hints !== '' && html`<p class="hint" id="${name}-hint">${hints}</p>`}${problem && renderProblem(view)}`;
  const parts = [description !== undefined && 'about', hints !== '' && 'hint', problem && 'error'];
  const describedBy = parts.flatMap((part) => (part ? `${name}-${part}` : [])).join(' ');
  const described = { html: describedBy === '' ? '' : ` aria-describedby="${describedBy}"` };
  const label = html`<span dir="auto">${titleOf(field)}</span>${
      !field.required && html` <span class="optional">(${words.optional})</span>`
    }`;
  const body = isGroup(field)
    ? html`<fieldset${groupAttributes(view)}${described}><legend>${label}</legend>${before}${renderGroup(view)}</fieldset>`
    : html`<label for="${name}">${label}</label>${before}${renderInput(view, described)}`;
  return html`<div class="field${problem && ' wrong'}">${body}</div> `;
}

/** One yes or no: its answers are the buttons of the form. */
export function renderConfirm({ field, problem, name, words }: FieldView): Html {
  const { description } = field;
  return html`<div class="field">
    <p class="label" id="${name}-label" dir="auto">${titleOf(field)}</p>
    ${
      description !== undefined &&
      html`<p class="hint"><span class="text" dir="auto">${shown(description, MAX_DESCRIPTION, words.cut)}</span></p>`
    }${problem && renderProblem({ name, problem, words })}
  </div>`;
}

export function titleOf({ title }: Field): string {
  return shown(title, MAX_TITLE);
}

function groupAttributes({ field, problem }: FieldView): Html {
  if (field.kind === 'choices') return html``;
  return html` role="radiogroup"${when(field.required, 'aria-required="true"')}${when(problem !== undefined, 'aria-invalid="true"')}`;
}

function renderProblem({ problem, name, words }: Pick<FieldView, 'problem' | 'name' | 'words'>): Html {
  const text = describeProblem(problem!, words.problems);
  return html`<p class="error" id="${name}-error"><strong>${words.errorPrefix}</strong> ${shown(text, MAX_TITLE)}</p>`;
}
