// Renders inputs. Browsers check only incomplete dates; all other rules are checked here, so that problems look the
// same.
import type { SchemaField, TextField } from '../../../../protocol/form/schema-field.ts';
import { html, clip, when } from './html.ts';
import type { Html } from './html.ts';
import type { FieldView } from './render-field.ts';
import { fill } from '../locales/page-words.ts';

/** More options than this become a list. */
const MAX_RADIOS = 7;
const MAX_OPTION = 300;

/** Whether the field has several inputs under one legend. */
export function isGroup(field: SchemaField): boolean {
  return field.kind === 'boolean' || field.kind === 'choices' || (field.kind === 'choice' && !isLong(field));
}

export function renderGroup(view: FieldView): Html {
  const { field, words } = view;
  const none = field.required ? [] : [{ value: '', title: words.noAnswer }];
  switch (field.kind) {
    case 'boolean':
      return renderRadios(view, [{ value: 'true', title: words.yes }, { value: 'false', title: words.no }, ...none]);
    case 'choice':
      return renderRadios(view, [...numbered(field.options), ...none]);
    case 'choices':
      return renderTicks(view, 'checkbox', numbered(field.options));
    default:
      return html``;
  }
}

export function renderInput(view: FieldView, described: Html): Html {
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

function renderZone({ field, entry, name, words }: FieldView): Html {
  const label = fill(words.zone, { title: clip(field.title, MAX_OPTION) });
  return html`<label for="${name}.zone" class="hint">${label}</label
    ><select id="${name}.zone" name="${name}.zone" class="short">
      <option value="">${words.pleaseChoose}</option>
      ${ZONES.map((zone) => html`<option value="${zone}" ${when(zone === entry.zone, 'selected')}>UTC${zone}</option>`)}
    </select>`;
}

function renderRadios(view: FieldView, options: Choice[]): Html {
  return renderTicks(view, 'radio', options);
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

/** All UTC offsets in use. */
const ZONES = `
  -12:00 -11:00 -10:00 -09:30 -09:00 -08:00 -07:00 -06:00 -05:00 -04:00 -03:30 -03:00 -02:00
  -01:00 +00:00 +01:00 +02:00 +03:00 +03:30 +04:00 +04:30 +05:00 +05:30 +05:45 +06:00 +06:30
  +07:00 +08:00 +08:45 +09:00 +09:30 +10:00 +10:30 +11:00 +12:00 +12:45 +13:00 +14:00
`
  .trim()
  .split(/\s+/);
