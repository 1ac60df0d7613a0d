// Text that somebody else wrote, for a place where every character counts: a terminal, or the question for an approval.

/** On one line, without characters that cannot be seen, that turn others around, or that a terminal obeys. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, toEscape);
}

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
