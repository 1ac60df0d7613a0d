// The questions of a round as the sections of one form.
import type { JsonObject } from '../../../protocol/message.ts';
import { toFields } from '../form-field.ts';
import type { Field } from '../form-field.ts';
import type { Question, Round } from '../round.ts';

export interface Section {
  readonly key: string;
  /** In the names of its inputs. */
  readonly name: string;
  readonly message: string;
  readonly fields: readonly Field[];
  /** Answered on another website. */
  readonly url: Target | undefined;
  /** A website to go to and nothing else: then the button says that it is done. */
  readonly isAlone: boolean;
  /** One yes or no and nothing else: then these are the buttons. */
  readonly isConfirm: boolean;
  /** No page can show this many inputs. */
  readonly isTooMuch: boolean;
}

export interface Target {
  readonly href: string;
  /** As it is looked up: a name in other letters shows in its ASCII form. */
  readonly host: string;
  /** Anything else, such as javascript:, is never a link. */
  readonly isWeb: boolean;
}

const MAX_FIELDS = 100;
const MAX_OPTIONS = 2000;
const MAX_URL = 8000;

export function toSections({ questions }: Round): Section[] {
  return questions.map((question, index) => toSection(question, index, questions.length === 1));
}

function toSection({ key, ask }: Question, index: number, isOnly: boolean): Section {
  const params: JsonObject = ask.params ?? {};
  const url = params['mode'] === 'url' || params['url'] !== undefined ? toTarget(params['url']) : undefined;
  const fields = url ? [] : toFields(params['requestedSchema']);
  return {
    key,
    name: `q${index}`,
    message: typeof params['message'] === 'string' ? params['message'] : '',
    fields,
    url,
    isAlone: url !== undefined && isOnly,
    isConfirm: isOnly && isConfirmation(fields),
    isTooMuch: fields.length > MAX_FIELDS || fields.some((field) => optionsOf(field) > MAX_OPTIONS),
  };
}

/** With a default, somebody has to see which it is. */
function isConfirmation([field, ...others]: readonly Field[]): boolean {
  return field?.kind === 'boolean' && field.required && field.default === undefined && others.length === 0;
}

function toTarget(url: unknown): Target {
  const href = String(url);
  if (href.length > MAX_URL || !URL.canParse(href)) return { href, host: '', isWeb: false };
  const { protocol, host, href: parsed, username, password } = new URL(href);
  const isWeb = (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
  return { href: parsed, host, isWeb };
}

function optionsOf(field: Field): number {
  return 'options' in field ? field.options.length : 0;
}
