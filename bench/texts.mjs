// The texts that travel. Shared by servers and load, so that both agree on what a right answer holds.

/** Small: makes a handshake-era request of about 150 bytes. */
export const SMALL = 'forty-two bytes of text, there and back ..';

/** Opens a large text, so that its answers are recognised by their start. */
export const LARGE_OPENS = 'the large text opens here';

const MEBIBYTE = 1024 * 1024;

/** 1 MiB of lines with something to escape in each, as in a source file or a log. */
export const LARGE = largeText(MEBIBYTE);

let huge;

/** About ten times as much: 10 MB once it is escaped, and not a byte more, for some peers end there. */
export const hugeText = () => (huge ??= largeText(9_300_000));

function largeText(size) {
  const line = 'It said "a result is text, mostly", and then a path: C:\\temp\\notes.txt\n';
  return LARGE_OPENS + line.repeat(Math.ceil(size / line.length)).slice(LARGE_OPENS.length, size);
}
