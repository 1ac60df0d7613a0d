// Characters that people do not see and models read: Unicode tags (an ASCII text can be hidden in them), characters that turn the direction of
// text around, and control characters. Joiners and direction marks stay: many languages and emoji need them, and so do tabs and line ends.

/** The flags of England, Scotland and Wales are the only tags that are emoji. */
const FLAGS =
  '\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}';
const HIDDEN = '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\u{E0000}-\\u{E007F}]';
let pattern: RegExp | undefined;

/** Without hidden characters; the same string if it has none. */
export function withoutHidden(text: string): string {
  pattern ??= new RegExp(`${FLAGS}|${HIDDEN}`, 'gu');
  return text.replace(pattern, (found) => (found.startsWith('\u{1F3F4}') ? found : ''));
}

export function hasHidden(text: string): boolean {
  return withoutHidden(text).length !== text.length;
}
