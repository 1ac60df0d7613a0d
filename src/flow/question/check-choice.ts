// Checks a single or multiple choice. Values are compared by content, so a choice may be an object.
import { isDeepStrictEqual } from 'node:util';
import type { Choice } from '../../protocol/form/prompt.ts';
import type { Complaint, Field } from './question.ts';

const MAX_TOLD = 10;

export function checkChoiceAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  const choices = prompt.choices ?? [];
  return isOffered(value, choices) ? undefined : { error: 'Not one of the choices', suggestion: told(choices) };
}

export function checkChoicesAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (!Array.isArray(value)) return { error: 'Must be a list of choices' };
  const choices = prompt.choices ?? [];
  const { min, max } = prompt.validation ?? {};
  if (value.length > choices.length) return { error: 'More answers than choices' };
  if (value.some((one) => !isOffered(one, choices)))
    return { error: 'Not all are among the choices', suggestion: told(choices) };
  if (value.some((one, at) => value.slice(0, at).some((other) => isDeepStrictEqual(one, other))))
    return { error: 'The same choice twice' };
  if (typeof min === 'number' && value.length < min) return { error: `Choose at least ${min}` };
  if (typeof max === 'number' && value.length > max) return { error: `Choose at most ${max}` };
  return undefined;
}

function isOffered(value: unknown, choices: Choice[]): boolean {
  return choices.some((choice) => choice.value === value || isDeepStrictEqual(choice.value, value));
}

function told(choices: Choice[]): string {
  const named = choices
    .slice(0, MAX_TOLD)
    .map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return `Use ${named.join(', ')}${choices.length > MAX_TOLD ? ', …' : ''}`;
}
