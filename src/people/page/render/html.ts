// Builds HTML and escapes every value that is not HTML itself. Questions come from servers and may contain anything, so
// all strings pass through here.
import { UNSHOWN } from '../../../kernel/base/visible.ts';

export interface Html {
  readonly html: string;
}

type Part = Html | string | number | undefined | false | readonly Part[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  return { html: strings.reduce((text, string, index) => text + toHtml(values[index - 1]) + string) };
}

/** Fills the placeholders of a sentence with HTML. */
export function fillHtml(sentence: string, values: Record<string, Html>): Html {
  const parts = sentence.split(/\{(\w+)\}/);
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')))}`;
}

/** Shortens text for display and removes invisible characters. `cut` marks a shortened text. */
export function clip(text: string, maxLength: number, cut = '…'): string {
  const clean = text.slice(0, maxLength).replaceAll('\r\n', '\n').replaceAll(UNSHOWN, '');
  return text.length > maxLength ? `${clean.replace(/[\ud800-\udbff]$/, '')}${cut}` : clean;
}

/** A boolean attribute. */
export function when(condition: boolean, attribute: string): Html {
  return { html: condition ? ` ${attribute}` : '' };
}

function toHtml(part: Part): string {
  if (part === undefined || part === false) return '';
  if (Array.isArray(part)) return part.map(toHtml).join('');
  if (typeof part === 'object') return (part as Html).html;
  return String(part).replaceAll(/[&<>"']/g, (character) => ESCAPES[character]!);
}
