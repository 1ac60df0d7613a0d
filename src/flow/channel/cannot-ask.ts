// Questions for a client that cannot be asked: optional ones are skipped, and the rest is told to the model, which may give answers as arguments.
import type { JsonObject } from '../../kernel/message.ts';
import { isRequired } from '../question/answer-schema.ts';
import type { Question } from '../question/question.ts';

/** Skips optional questions that were not given as arguments. Throws if a required one is left. */
export function acceptWithoutAsking(questions: readonly Question[]): JsonObject {
  if (questions.some((question) => question.complaint || isRequired(question))) throw new CannotAskError(questions);
  return { action: 'accept', content: {} };
}

/** Tells a model which questions can be arguments of another call, and which need another client. */
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
