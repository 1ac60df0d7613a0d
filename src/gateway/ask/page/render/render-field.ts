// Renders one field: label, hints, problem and input, linked for screen readers.
import { describeProblem } from '../../../../protocol/form/answer-problem.ts';
import type { AnswerProblem } from '../../../../protocol/form/answer-problem.ts';
import type { SchemaField } from '../../../../protocol/form/schema-field.ts';
import type { FieldEntry } from '../field-entry.ts';
import { hintsOf } from '../locales/hints.ts';
import { html, clip, when } from './html.ts';
import type { Html } from './html.ts';
import { isGroup, renderGroup, renderInput } from './render-input.ts';
import type { PageWords } from '../locales/page-words.ts';

export interface FieldView {
  readonly field: SchemaField;
  readonly entry: FieldEntry;
  readonly problem: AnswerProblem | undefined;
  /** The name of the input and the prefix of its ids. */
  readonly name: string;
  readonly words: PageWords;
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
      <span class="text" dir="auto">${clip(description, MAX_DESCRIPTION, words.cut)}</span>
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

/** A single yes or no, answered with the form's buttons. */
export function renderConfirm({ field, problem, name, words }: FieldView): Html {
  const { description } = field;
  return html`<div class="field">
    <p class="label" id="${name}-label" dir="auto">${titleOf(field)}</p>
    ${
      description !== undefined &&
      html`<p class="hint"><span class="text" dir="auto">${clip(description, MAX_DESCRIPTION, words.cut)}</span></p>`
    }${problem && renderProblem({ name, problem, words })}
  </div>`;
}

export function titleOf({ title }: SchemaField): string {
  return clip(title, MAX_TITLE);
}

function groupAttributes({ field, problem }: FieldView): Html {
  if (field.kind === 'choices') return html``;
  return html` role="radiogroup"${when(field.required, 'aria-required="true"')}${when(problem !== undefined, 'aria-invalid="true"')}`;
}

function renderProblem({ problem, name, words }: Pick<FieldView, 'problem' | 'name' | 'words'>): Html {
  const text = describeProblem(problem!, words.problems);
  return html`<p class="error" id="${name}-error"><strong>${words.errorPrefix}</strong> ${clip(text, MAX_TITLE)}</p>`;
}
