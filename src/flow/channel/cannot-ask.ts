// There is no way to ask whoever calls: what a model is told then. What can be an argument it can give with another call; what only
// the user can answer needs another client.
import type { JsonObject } from '../../protocol/message.ts';
import type { Question } from '../question/question.ts';
import { isRequired } from '../question/answer-schema.ts';

/** What need not be answered was left out of the arguments; the rest can still be given with another call. */
export function acceptWithoutAsking(questions: readonly Question[]): JsonObject {
  if (questions.some((question) => question.complaint || isRequired(question))) throw new CannotAskError(questions);
  return { action: 'accept', content: {} };
}

export class CannotAskError extends Error {
  constructor(questions: readonly Question[]) {
    super([...arguable(questions), ...personal(questions)].join('\n'));
  }
}

function arguable(questions: readonly Question[]): string[] {
  const open = questions.filter((question) => !isPersonal(question));
  if (open.length === 0) return [];
  return [
    'This client cannot be asked. Ask the user, and call the tool again with these arguments as well:',
    ...open.map(lineOf),
  ];
}

function personal(questions: readonly Question[]): string[] {
  const open = questions.filter(isPersonal);
  if (open.length === 0) return [];
  return [
    'Only the user can answer this, and not through a model: it needs a client that can be asked, or one that opens links.',
    ...open.map(lineOf),
  ];
}

function isPersonal({ by, secret }: Question): boolean {
  return by === 'human' || secret === true;
}

function lineOf({ key, prompt, complaint }: Question): string {
  return `- ${key}: ${complaint ? `${complaint.error}. ` : ''}${prompt.message}`;
}
