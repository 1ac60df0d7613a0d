// Shortens a peer's text for quoting.

/** Real names have at most 200 characters. */
const MOST = 200;

export function shorten(text: string, most: number = MOST): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00; // keeps surrogate pairs together
  return `${text.slice(0, isHalf ? most - 1 : most)}…`;
}
