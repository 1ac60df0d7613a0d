// Changes servers in JSON with comments, by the edits of `jsonc-parser`: what stands around them stays as it is.
import { createRequire } from 'node:module';
import type * as Jsonc from 'jsonc-parser';
import type { FormattingOptions } from 'jsonc-parser';
import { lineEndOf } from './splice.ts';
import type { ClientEdit } from './splice.ts';

export function spliceJson(text: string, { key, remove, add }: ClientEdit): string {
  const { modify, applyEdits } = createRequire(import.meta.url)('jsonc-parser') as typeof Jsonc;
  const formattingOptions = formattingOf(text);
  const set = (before: string, name: string, value: unknown): string =>
    applyEdits(before, modify(before, [...key, name], value, { formattingOptions, getInsertionIndex: () => 0 }));
  let changed = text;
  for (const [name, value] of add.toReversed()) changed = set(changed, name, value);
  for (const name of remove) changed = set(changed, name, undefined);
  return changed;
}

/** At the end of a list. */
export function appendJson(text: string, path: readonly string[], value: unknown): string {
  const { modify, applyEdits } = createRequire(import.meta.url)('jsonc-parser') as typeof Jsonc;
  return applyEdits(
    text,
    modify(text, [...path, -1], value, { formattingOptions: formattingOf(text), isArrayInsertion: true }),
  );
}

/** As the first indented line is. */
export function formattingOf(text: string): FormattingOptions {
  const [, indent = '  '] = /^([ \t]+)["}\]]/m.exec(text) ?? [];
  const insertSpaces = !indent.startsWith('\t');
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 4, eol: lineEndOf(text), insertFinalNewline: false };
}
