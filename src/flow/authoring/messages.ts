// The text of a question: plain text, or a message id with parameters for translated flows. Consent is bound to the id and the parameters:
// another translation keeps it, another text or price does not.
import { hash } from 'node:crypto';

interface LocalizedMessage {
  readonly id: string;
  readonly params: Readonly<Record<string, string | number>>;
}

export type Words = string | LocalizedMessage;

/** Texts by locale and id, with `{name}` for parameters. */
export type Catalogue = Record<string, Record<string, string>>;

export function msg(id: string, params: Record<string, string | number> = {}): LocalizedMessage {
  return { id, params };
}

export function toMessageText(words: Words, catalogue: Catalogue | undefined, locale: string | undefined): string {
  if (typeof words === 'string') return words;
  const template = find(words.id, catalogue, locale) ?? words.id;
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(words.params[name] ?? whole));
}

export function fingerprint(words: Words): string {
  const said = typeof words === 'string' ? words : JSON.stringify([words.id, sorted(words.params)]);
  return hash('sha256', said, 'base64url').slice(0, 11);
}

function sorted(params: LocalizedMessage['params']): [string, string | number][] {
  return Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Looks up `de-AT`, then `de`, then the first locale. */
function find(id: string, catalogue: Catalogue | undefined, locale: string | undefined): string | undefined {
  if (catalogue === undefined) return undefined;
  const language = locale?.split('-')[0];
  const tables = [locale, language, Object.keys(catalogue)[0]].flatMap((name) =>
    name !== undefined && Object.hasOwn(catalogue, name) ? [catalogue[name]] : [],
  );
  return tables.find((table) => table && Object.hasOwn(table, id))?.[id];
}
