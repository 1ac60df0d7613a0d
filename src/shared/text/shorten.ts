// What somebody else has written and we quote: so much of it that they know what is meant, and no more.

/** Names that are in use have at most 200 characters. */
const MOST = 200;

export function shorten(text: string, most: number = MOST): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00; // a pair is not torn apart
  return `${text.slice(0, isHalf ? most - 1 : most)}…`;
}
