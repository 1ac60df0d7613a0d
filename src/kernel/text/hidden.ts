// Characters that people do not see and models read: Unicode tags (an ASCII text can be hidden in them), characters that turn the direction of
// text around, and control characters. Joiners and direction marks stay: many languages and emoji need them, and so do tabs and line ends. They are
// covert where they carry a message: only sequences count that no language or emoji uses. What is written with them one by one, far apart, cannot be
// told from ordinary text.

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

/** Zero-width spaces and joiners, word joiners, byte order marks, fillers of Hangul. */
const BLANK = '\\u115F\\u1160\\u200B-\\u200D\\u2060\\u3164\\uFEFF\\uFFA0';
const SELECTOR = '\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}';
/** Letters that have no variants. */
const LETTER = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}]';
const ASCII = '[\\x20-\\x7e]';

const ORDERS = [
  // A character has one variation selector at most, and those of the second block belong to ideographs.
  `[${SELECTOR}]{2,}`,
  `(?<!\\p{Script=Han})[\\u{E0100}-\\u{E01EF}]`,
  `(?:${ASCII}[\\uFE00-\\uFE0F]){8,}`,
  `${LETTER}[\\uFE00-\\uFE0D]`,
  // Arabic may need three blanks in a row. In ASCII texts, editors leave the same one twice.
  `[${BLANK}]{4,}`,
  `(?<=${ASCII})([${BLANK}])(?!\\1)[${BLANK}]+`,
  `(?:${ASCII}[${BLANK}]){8,}`,
];

let any: RegExp | undefined;
let all: RegExp | undefined;
let orders: RegExp | undefined;

/** Without covert messages; the same string if it has none. */
export function withoutCovert(text: string): string {
  any ??= new RegExp(`[${BLANK}${SELECTOR}]`, 'u');
  if (!any.test(text)) return text;
  all ??= new RegExp(any.source, 'gu');
  orders ??= new RegExp(ORDERS.join('|'), 'gu');
  return text.replace(orders, (found) => found.replace(all!, ''));
}

export function hasCovert(text: string): boolean {
  return withoutCovert(text).length !== text.length;
}

/**
 * Everything that a person cannot see, or cannot tell from a plain space: what Unicode says may be ignored (joiners, selectors, tags, fillers), controls, characters that
 * no font has, symbols that are blank (U+2800, U+FFFC and others), and spaces of other widths.
 */
const UNSEEN =
  '[\\p{Default_Ignorable_Code_Point}\\p{C}\\p{Zl}\\p{Zp}\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u2800\\u3000\\uFFFC\\u{16FE4}\\u{1D159}]';
let unseen: RegExp | undefined;

/** Replaces each character that a person does not see. */
export function replaceUnseen(text: string, replace: (character: string) => string): string {
  unseen ??= new RegExp(UNSEEN, 'gu');
  return text.replace(unseen, replace);
}
