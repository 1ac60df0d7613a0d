// Renders one field: label, hints, problem and input, linked for screen readers. Browsers check only incomplete dates; all other rules are
// checked here, so that problems look the same.
import { describeProblem } from '../../../kernel/form/answer-problem.ts';
import type { AnswerProblem } from '../../../kernel/form/answer-problem.ts';
import { toSize } from '../../../kernel/form/check-field.ts';
import type { SchemaField, TextField } from '../../../kernel/form/schema-field.ts';
import { fill } from '../locales/page-words.ts';
import type { PageWords } from '../locales/en.ts';
import type { FieldEntry } from '../read-form.ts';
import { html, clip, when } from './html.ts';
import type { Html } from './html.ts';

interface FieldView {
  readonly field: SchemaField;
  readonly entry: FieldEntry;
  readonly problem: AnswerProblem | undefined;
  /** The name of the input and the prefix of its ids. */
  readonly name: string;
  readonly words: PageWords;
}

const MAX_TITLE = 300;
const MAX_DESCRIPTION = 4000;
/** More options than this become a list. */
const MAX_RADIOS = 7;
const MAX_OPTION = 300;
const MAX_TYPES = 300;

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

/** Whether the field has several inputs under one legend. */
function isGroup(field: SchemaField): boolean {
  return field.kind === 'boolean' || field.kind === 'choices' || (field.kind === 'choice' && !isLong(field));
}

function renderGroup(view: FieldView): Html {
  const { field, words } = view;
  const none = field.required ? [] : [{ value: '', title: words.noAnswer }];
  switch (field.kind) {
    case 'boolean':
      return renderTicks(view, 'radio', [
        { value: 'true', title: words.yes },
        { value: 'false', title: words.no },
        ...none,
      ]);
    case 'choice':
      return renderTicks(view, 'radio', [...numbered(field.options), ...none]);
    case 'choices':
      return renderTicks(view, 'checkbox', numbered(field.options));
    default:
      return html``;
  }
}

function renderInput(view: FieldView, described: Html): Html {
  const { field, entry, name } = view;
  const common = html`id="${name}" name="${name}"${described}${stateOf(view)}`;
  const value = entry.texts[0] ?? '';
  switch (field.kind) {
    case 'secret':
      return html`<input type="password" ${common} autocomplete="new-password" spellcheck="false" />`;
    case 'number':
      return html`<input
        type="text"
        inputmode="${field.integer ? 'numeric' : 'decimal'}"
        class="short"
        ${common}
        value="${value}"
        autocomplete="off"
      />`;
    case 'file':
      return html`<input
        type="file"
        ${common}${field.accept.length > 0 && html` accept="${field.accept.join(',')}"`}
      />`;
    case 'choice':
      return renderSelect(view, common);
    case 'json':
      return html`<textarea ${common} class="code" rows="5" spellcheck="false" dir="auto">
${afterBreak(value)}</textarea>`;
    case 'text':
      return renderText(view, field, common);
    default:
      return html``;
  }
}

function renderText(view: FieldView, field: TextField, common: Html): Html {
  const value = view.entry.texts[0] ?? '';
  if (field.multiline) return html`<textarea ${common} rows="5" dir="auto">${afterBreak(value)}</textarea>`;
  switch (field.format) {
    case 'date':
      return html`<input type="date" class="short" ${common} value="${value}" />`;
    case 'date-time':
      return html`<input type="datetime-local" class="short" ${common} value="${value}" />${renderZone(view)}`;
    case 'email':
    case 'uri':
      return html`<input
        type="text"
        inputmode="${field.format === 'uri' ? 'url' : 'email'}"
        ${common}
        value="${value}"
        autocapitalize="none"
        spellcheck="false"
      />`;
    case undefined:
      return html`<input type="text" ${common} value="${value}" dir="auto" />`;
  }
}

/** A browser ignores a leading line break in a textarea, so add one. */
function afterBreak(text: string): string {
  return `\n${text}`;
}

function renderSelect({ field, entry, words }: FieldView, common: Html): Html {
  const options = field.kind === 'choice' ? numbered(field.options) : [];
  const first = { value: '', title: field.required ? words.pleaseChoose : words.noAnswer };
  return html`<select ${common}>
    ${[first, ...options].map(
      ({ value, title }) =>
        html`<option value="${value}" ${when((entry.texts[0] ?? '') === value, 'selected')}>
          ${clip(title, MAX_OPTION)}
        </option>`,
    )}
  </select>`;
}

/** All UTC offsets in use. */
const ZONES = `
  -12:00 -11:00 -10:00 -09:30 -09:00 -08:00 -07:00 -06:00 -05:00 -04:00 -03:30 -03:00 -02:00
  -01:00 +00:00 +01:00 +02:00 +03:00 +03:30 +04:00 +04:30 +05:00 +05:30 +05:45 +06:00 +06:30
  +07:00 +08:00 +08:45 +09:00 +09:30 +10:00 +10:30 +11:00 +12:00 +12:45 +13:00 +14:00
`
  .trim()
  .split(/\s+/);

function renderZone({ field, entry, name, words }: FieldView): Html {
  const label = fill(words.zone, { title: clip(field.title, MAX_OPTION) });
  return html`<label for="${name}.zone" class="hint">${label}</label
    ><select id="${name}.zone" name="${name}.zone" class="short">
      <option value="">${words.pleaseChoose}</option>
      ${ZONES.map((zone) => html`<option value="${zone}" ${when(zone === entry.zone, 'selected')}>UTC${zone}</option>`)}
    </select>`;
}

interface Choice {
  readonly value: string;
  readonly title: string;
}

function renderTicks({ entry, name, problem }: FieldView, type: 'radio' | 'checkbox', options: Choice[]): Html {
  const isWrong = type === 'checkbox' && problem !== undefined;
  return html`${options.map(
    ({ value, title }, index) =>
      html`<label class="tick"
        ><input
          type="${type}"
          ${when(index === 0, `id="${name}"`)}
          name="${name}"
          value="${value}"
          ${when(entry.texts.includes(value), 'checked')}${when(isWrong, 'aria-invalid="true"')}
        />
        <span dir="auto">${clip(title, MAX_OPTION)}</span></label
      >`,
  )}`;
}

function stateOf({ field, problem }: FieldView): Html {
  return html`${when(field.required, 'aria-required="true"')}${when(problem !== undefined, 'aria-invalid="true"')}`;
}

function numbered(options: readonly { title: string }[]): Choice[] {
  return options.map(({ title }, index) => ({ value: String(index), title }));
}

function isLong(field: { options: readonly unknown[] }): boolean {
  return field.options.length > MAX_RADIOS;
}

/** Describes the limits of a field before it is filled in. */
function hintsOf(field: SchemaField, words: PageWords): string {
  switch (field.kind) {
    case 'text':
      return field.format ? '' : lengthHint(field, words);
    case 'secret':
      return `${words.secretHint} ${lengthHint(field, words)}`.trim();
    case 'number': {
      const { minimum: min, maximum: max } = field;
      const range = rangeHint({ min, max }, [words.between, words.atLeast, words.atMost]);
      return field.integer || range !== '' ? range : words.numberHint;
    }
    case 'choices': {
      const { minItems: min, maxItems: max } = field;
      return rangeHint({ min: min || undefined, max }, [words.chooseBetween, words.chooseAtLeast, words.chooseAtMost]);
    }
    case 'file':
      return fill(words.fileHint, {
        types: clip(field.accept.join(', '), MAX_TYPES) || words.anyFile,
        size: toSize(field.maxBytes),
      });
    case 'json':
      return words.jsonHint;
    case 'boolean':
    case 'choice':
      return '';
  }
}

function lengthHint(field: { minLength: number | undefined; maxLength: number | undefined }, words: PageWords): string {
  const min = (field.minLength ?? 0) > 1 ? field.minLength : undefined; // the required mark says so already
  return rangeHint({ min, max: field.maxLength }, [words.lengthBetween, words.lengthAtLeast, words.lengthAtMost]);
}

function rangeHint(
  { min, max }: { min: number | undefined; max: number | undefined },
  [between, atLeast, atMost]: [string, string, string],
): string {
  if (min !== undefined && max !== undefined) return fill(between, { min, max });
  if (min !== undefined) return fill(atLeast, { min });
  return max !== undefined ? fill(atMost, { max }) : '';
}
