// Makes foreign text safe to show in a terminal, in an error or in an approval question.
import { replaceUnseen } from '../text/hidden.ts';

/**
 * Control characters except line ends and tabs, and direction marks: both can disguise a text. Listed by code point,
 * because V8 takes milliseconds to compile a class such as \p{Cc}, which would delay the first printed line.
 */
// eslint-disable-next-line no-control-regex -- these are what must not be shown
export const UNSHOWN: RegExp = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** On one line, with everything that a person would not see written out: what somebody approves, they have seen. */
export function visible(text: string): string {
  return replaceUnseen(text, toEscape);
}

/**
 * For a terminal: keeps lines, escapes control characters and direction marks. Escape sequences can rewrite earlier
 * output or fill the clipboard. They are shown as in JSON, so JSON keeps its value.
 */
export function printable(text: string): string {
  if (text.search(UNSHOWN) === -1) return text; // nearly always
  return text.replaceAll('\r\n', '\n').replaceAll(UNSHOWN, toJsonEscape);
}

/** For a single line: text that looks like a second line could be mistaken for ours. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', toJsonEscape);
}

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

function toJsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Real names have at most 200 characters. */
const MOST = 200;

/** Shortens a peer's text for quoting. */
export function shorten(text: string, most: number = MOST): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00; // keeps surrogate pairs together
  return `${text.slice(0, isHalf ? most - 1 : most)}…`;
}
