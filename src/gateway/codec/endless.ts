// When a line or an event that is too long, and so skipped, is taken for one without an end. Reading it costs processor time for ever.

const LEAST_BYTES = 16 * 1024 * 1024;

export function endlessBytes(maxBytes: number): number {
  return Math.max(4 * maxBytes, LEAST_BYTES);
}
