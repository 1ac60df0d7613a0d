// Text of others for a terminal. Escape sequences can rewrite what was shown before or fill the clipboard, and marks of direction make
// a text read as what it is not. They are shown as `\u001b`, which is also how JSON writes them: JSON stays the same value.

/** Controls but line ends and tabs, and marks that turn the direction of the text around them. Both can make a text read as what it is not. */
export const UNSHOWN: RegExp = /(?![\n\t])\p{Cc}|[\u2028-\u202e\u2066-\u2069\ufeff]/gu;

export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSHOWN, escaped);
}

/** For a place that has one line only: what looks like a second one would be taken for ours. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
