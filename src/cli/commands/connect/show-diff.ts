// A change as a unified diff, without what may be secret: values of variables and headers are written over, in both texts alike.
import { createTwoFilesPatch } from 'diff';
import { isObject } from '../../../kernel/message.ts';
import { MASKED } from '../../../kernel/secrets/secrets.ts';
import { disguiseArgument } from '../../../kernel/secrets/secret-shapes.ts';
import type { Printer, Style } from '../../../kernel/command/printer.ts';

interface ShownChange {
  path: string;
  before: string;
  after: string;
  /** Values that must not be shown. */
  secrets: ReadonlySet<string>;
}

export function showDiff({ path, before, after, secrets }: ShownChange, print: Printer): void {
  const [old, fresh] = [before, after].map((text) => masked(text.replaceAll('\r\n', '\n'), secrets));
  const patch = createTwoFilesPatch(path, path, old!, fresh!, undefined, undefined, { context: 2 });
  const lines = patch.trimEnd().split('\n');
  for (const line of lines.slice(lines.findIndex((one) => one.startsWith('---')))) print.line(coloured(line, print));
}

function coloured(line: string, print: Printer): string {
  const style: Style | undefined = /^(?:---|\+\+\+)/.test(line)
    ? 'bold'
    : ({ '+': 'green', '-': 'red', '@': 'dim' } as const)[line[0] as '+'];
  return style === undefined ? line : print.style(style, line);
}

/** In quotes wherever they stand; long ones without, too. */
function masked(text: string, secrets: ReadonlySet<string>): string {
  let shown = text;
  for (const secret of [...secrets].toSorted((a, b) => b.length - a.length)) {
    const written = JSON.stringify(secret);
    for (const form of [written, `'${secret}'`]) shown = shown.replaceAll(form, `${form[0]}${MASKED}${form[0]}`);
    if (secret.length >= LONG) {
      for (const form of [written.slice(1, -1), secret]) shown = shown.replaceAll(form, MASKED);
    } else shown = shown.replaceAll(`: ${secret}\n`, `: ${MASKED}\n`);
  }
  return shown;
}

const LONG = 6;

/** Values of variables and headers, and arguments that look like secrets. References to variables are none. */
export function secretsIn(value: unknown, isInside = false): Set<string> {
  const found = new Set<string>();
  const add = (text: unknown): void => {
    if (typeof text === 'string' && text !== '' && !REFERENCE.test(text)) found.add(text);
  };
  if (Array.isArray(value)) {
    value.forEach((one, index) => {
      for (const secret of isText(one) ? hiddenPart(one, value[index - 1]) : secretsIn(one, isInside)) add(secret);
    });
  } else if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) {
      if (isInside || /url|uri/i.test(key))
        (isText(one) && !isInside ? hiddenPart(one, undefined) : [one]).forEach(add);
      for (const secret of secretsIn(one, isInside || SECRET_BLOCKS.test(key))) add(secret);
    }
  }
  return found;
}

/** To a variable, perhaps after a word such as Bearer. */
const REFERENCE = /^(?:[A-Za-z]+ )?\$?\{[^{}]*\}$/;
const SECRET_BLOCKS = /^(?:env|envs|environment|headers|http_headers|auth|oauth)$/;

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** What a disguise would hide of an argument. */
function hiddenPart(argument: string, before: unknown): string[] {
  const hidden: string[] = [];
  const hide = (text: string): string => {
    hidden.push(text);
    return '';
  };
  disguiseArgument(argument, isText(before) ? before : undefined, { show: (text) => text, hide });
  return hidden;
}
