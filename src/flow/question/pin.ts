// The pin of a question: a fingerprint of its kind, text, choices and position in loops. After an earlier answer changes, a later answer is
// reused only under the same pin. Rules and defaults are not part of it, as answers are checked against them again.
import { hash } from 'node:crypto';
import type { Field, Question } from './question.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';

const LENGTH = 8;
const MAX_PINS = 1000;
/** Most questions are asked of many users in the same words. */
const pins = new BoundedMap<string, string>(MAX_PINS);
const MAX_KNOWN_LENGTH = 500;

export function toQuestionPin(field: Field & Pick<Question, 'fields'>, loops: string | undefined): string {
  const { fields } = field;
  const inside = fields && Object.entries(fields).map(([name, one]) => [name, ...wordsOf(one)]);
  return pinOf(JSON.stringify([[...wordsOf(field), inside], loops]));
}

function pinOf(shown: string): string {
  const toPin = () => hash('sha256', shown, 'base64url').slice(0, LENGTH);
  return shown.length > MAX_KNOWN_LENGTH ? toPin() : pins.getOrCreate(shown, toPin);
}

function wordsOf({ kind, prompt: { message, choices }, label, help }: Field): unknown[] {
  return [kind, message, choices, label, help];
}
