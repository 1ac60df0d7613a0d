// Invisible characters that carry a message: each is needed by some language or emoji, so only sequences count that no language or emoji uses.
// What is written with them one by one, far apart, cannot be told from ordinary text.

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

/** Without such messages; the same string if it has none. */
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
