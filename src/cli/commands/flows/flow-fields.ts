// An open question of a flow as a form in the console, and what was filled in. The rules of the question are checked where it is left for its server.
import { isOwner } from '../../../flow/header.ts';
import type { Header } from '../../../flow/journal.ts';
import type { Field, Kind, Question } from '../../../flow/question/question.ts';
import type { FlowLook } from '../../../kernel/flow/flow-desk.ts';
import type { FlowField, FlowQuestion } from '../../../kernel/flow/flow-views.ts';
import { LOCAL } from '../../../kernel/base/anonymous.ts';
import { printable, visible } from '../../../kernel/base/visible.ts';
import { parseTypedAnswer } from '../../terminal/typed-answer.ts';

const KINDS: Partial<Record<Kind, FlowField['kind']>> = {
  text: 'text',
  number: 'number',
  confirm: 'confirm',
  choice: 'choice',
  choices: 'choices',
  date: 'date',
};
/** The only field of a question without a form. */
const ONLY = 'value';
const MAX_OPTIONS = 500;

export function toFlowQuestion(question: Question, header: Header, look: FlowLook): FlowQuestion {
  const { promptId, key, prompt, complaint, until } = question;
  return {
    promptId,
    key: visible(key),
    message: printable(prompt.message),
    complaint: complaint ? printable([complaint.error, complaint.suggestion].filter(Boolean).join('. ')) : null,
    until: until ?? null,
    fields: fieldsOf(question).map(([name, field]) => toField(name, field)),
    refusal: refusalOf(question, header, look),
  };
}

/** Why the operator cannot answer it in the console; null if they can. */
export function refusalOf(
  { secret, kind, person }: Question,
  header: Header,
  { peopleLogIn }: FlowLook,
): string | null {
  if (secret === true) return 'it asks for a secret, which only its user can give';
  if (kind === 'file') return 'it asks for a file, which only its user can give';
  if (person && person.orCaller !== true) return `it is for ${visible(person.principal)} to answer`;
  if (peopleLogIn) return 'people log in at this gateway, and it may be the session of one of them';
  return hasNoLogin(header) ? null : 'it is for its caller to answer, who has logged in';
}

/** The session of a caller who does not log in. */
export function hasNoLogin(header: Header): boolean {
  return header.share !== undefined || isOwner(header, LOCAL);
}

/** Undefined for what was left empty. */
export function readFields(question: Question, given: ReadonlyMap<string, readonly string[]>): unknown {
  const read = fieldsOf(question).map(([name, field]) => [name, readField(field, given.get(name) ?? [])] as const);
  if (question.kind !== 'form') return read[0]![1];
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function fieldsOf(question: Question): (readonly [name: string, field: Field])[] {
  return question.kind === 'form' ? Object.entries(question.fields ?? {}) : [[ONLY, question]];
}

function toField(name: string, { kind, label, help, prompt }: Field): FlowField {
  return {
    name,
    label: visible(label ?? (name === ONLY ? 'Your answer' : prompt.message)),
    help: help === undefined ? null : printable(help),
    kind: KINDS[kind] ?? 'json',
    options: (prompt.choices ?? []).slice(0, MAX_OPTIONS).map((choice) => visible(choice.label)),
  };
}

function readField(field: Field, given: readonly string[]): unknown {
  const choices = field.prompt.choices ?? [];
  const chosen = given.map((position) => choices[Number(position)]?.value ?? position);
  if (field.kind === 'choices') return chosen;
  const [text = ''] = given;
  if (text === '') return undefined;
  return field.kind === 'choice' ? chosen[0] : parseTypedAnswer(field, text);
}
