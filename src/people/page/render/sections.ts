// Converts the questions of a round to the sections of one form.
import type { JsonObject } from '../../../kernel/message.ts';
import { toSchemaFields } from '../../../kernel/form/schema-field.ts';
import type { SchemaField } from '../../../kernel/form/schema-field.ts';
import { isLoopbackHost } from '../../../kernel/net/address-kind.ts';
import type { RoundQuestion, QuestionRound } from '../../question-round.ts';

export interface Section {
  readonly key: string;
  /** The prefix of its input names. */
  readonly name: string;
  readonly message: string;
  /** Shown whole: a person approves only what they have seen. */
  readonly isWhole: boolean;
  readonly fields: readonly SchemaField[];
  /** Answered on another website. */
  readonly url: LinkTarget | undefined;
  /** Only a website to visit: the button then confirms that it is done. */
  readonly isAlone: boolean;
  /** Only one yes or no: then these are the buttons. */
  readonly isConfirm: boolean;
  /** Why it can only be declined: too much for a page, or not a web address. */
  readonly trouble: 'too-much' | 'no-website' | undefined;
}

interface LinkTarget {
  readonly href: string;
  /** The ASCII form of the host name. */
  readonly host: string;
  /** False for anything else, such as javascript:, which is never a link. */
  readonly isWeb: boolean;
  /** Browsers send our cookies to other ports of this machine, too. */
  readonly isLocal: boolean;
}

/** Limits for one page: the questions with their fields, and all their options. */
const MAX_FIELDS = 150;
const MAX_OPTIONS = 2000;
const MAX_URL = 8000;

export function toSections({ questions }: QuestionRound): Section[] {
  const sections = questions.map((question, index) => toSection(question, index, questions.length === 1));
  let [fields, options] = [0, 0];
  return sections.map((section) => {
    fields += 1 + section.fields.length;
    options += section.fields.reduce((sum, field) => sum + optionsOf(field), 0);
    return fields > MAX_FIELDS || options > MAX_OPTIONS ? { ...section, fields: [], trouble: 'too-much' } : section;
  });
}

function toSection({ key, ask }: RoundQuestion, index: number, isOnly: boolean): Section {
  const params: JsonObject = ask.params ?? {};
  const url = params['mode'] === 'url' || params['url'] !== undefined ? toTarget(params['url']) : undefined;
  const fields = url ? [] : toSchemaFields(params['requestedSchema']);
  return {
    key,
    name: `q${index}`,
    message: typeof params['message'] === 'string' ? params['message'] : '',
    isWhole: ask.human === true,
    fields,
    url,
    isAlone: url !== undefined && isOnly,
    isConfirm: isOnly && isConfirmation(fields),
    trouble: url && !url.isWeb ? 'no-website' : undefined,
  };
}

/** Not with a default, which the person has to see. */
function isConfirmation([field, ...others]: readonly SchemaField[]): boolean {
  return field?.kind === 'boolean' && field.required && field.default === undefined && others.length === 0;
}

function toTarget(url: unknown): LinkTarget {
  const href = String(url);
  if (href.length > MAX_URL || !URL.canParse(href)) return { href, host: '', isWeb: false, isLocal: false };
  const { protocol, host, hostname, href: parsed, username, password } = new URL(href);
  const isWeb = (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
  return { href: parsed, host, isWeb, isLocal: isLoopbackHost(hostname) || hostname === '0.0.0.0' };
}

function optionsOf(field: SchemaField): number {
  return 'options' in field ? field.options.length : 0;
}
