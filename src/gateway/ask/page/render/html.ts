// HTML in which every value is escaped unless it is HTML itself. Questions come from servers and may hold anything: there is
// no other way from a string to a page than through here.
import { UNSHOWN } from '../../../../shared/visible.ts';

export interface Html {
  readonly html: string;
}

type Part = Html | string | number | undefined | false | readonly Part[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  return { html: strings.reduce((text, string, index) => text + toHtml(values[index - 1]) + string) };
}

/** A sentence with HTML in its places. */
export function fillHtml(sentence: string, values: Record<string, Html>): Html {
  const parts = sentence.split(/\{(\w+)\}/);
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')))}`;
}

/** Text as it is shown: bounded, and with nothing in it that cannot be seen. `cut` is added to what was cut. */
export function clip(text: string, maxLength: number, cut = '…'): string {
  const clean = text.slice(0, maxLength).replaceAll('\r\n', '\n').replaceAll(UNSHOWN, '');
  return text.length > maxLength ? `${clean.replace(/[\ud800-\udbff]$/, '')}${cut}` : clean;
}

/** An attribute that stands alone, or is left out. */
export function when(condition: boolean, attribute: string): Html {
  return { html: condition ? ` ${attribute}` : '' };
}

function toHtml(part: Part): string {
  if (part === undefined || part === false) return '';
  if (Array.isArray(part)) return part.map(toHtml).join('');
  if (typeof part === 'object') return (part as Html).html;
  return String(part).replaceAll(/[&<>"']/g, (character) => ESCAPES[character]!);
}
