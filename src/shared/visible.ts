// Text that somebody else wrote, for a place where every character counts: a terminal, or the question for an approval.

/**
 * Controls but line ends and tabs, and marks that turn the direction of the text around them. Both can make a text read as what it is not.
 * They are named by number: V8 takes milliseconds to compile a class such as \p{Cc}, and the first line that is printed would wait for it.
 */
// eslint-disable-next-line no-control-regex -- these are what must not be shown
export const UNSHOWN: RegExp = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** On one line, without characters that cannot be seen, that turn others around, or that a terminal obeys. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, toEscape);
}

/**
 * For a terminal: in its own lines, without anything that a terminal obeys or that turns the text around it. Escape sequences can
 * rewrite what was shown before, or fill the clipboard. They are shown as JSON writes them, so JSON stays the same value.
 */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSHOWN, toJsonEscape);
}

/** For a place that has one line only: what looks like a second one would be taken for ours. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', toJsonEscape);
}

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

function toJsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
