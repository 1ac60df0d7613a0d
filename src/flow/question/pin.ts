// A fingerprint of what a user was shown: kind, words, choices, and where in its loops the body stood. After a change to an earlier answer,
// a later one counts again only under the same pin. Rules and defaults are not part of it: answers are checked against them anew.
import { hash } from 'node:crypto';
import type { Field, Question } from './question.ts';

const LENGTH = 8;

export function toPin({ fields, ...field }: Field & Pick<Question, 'fields'>, loops: string | undefined): string {
  const shown = [...wordsOf(field), fields && Object.entries(fields).map(([name, one]) => [name, ...wordsOf(one)])];
  return hash('sha256', JSON.stringify([shown, loops]), 'base64url').slice(0, LENGTH);
}

function wordsOf({ kind, prompt: { message, choices }, label, help }: Field): unknown[] {
  return [kind, message, choices, label, help];
}
