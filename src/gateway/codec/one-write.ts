// Messages that are written in the same turn of the event loop leave in one write: a system call, and waking who reads, cost
// more than all else that is done for a small message. Nothing is held beyond the turn, nor more than a few of them.
import type { Writable } from 'node:stream';

const MAX_HELD_BYTES = 16 * 1024;

const held = new WeakSet<Writable>();

/** To be called before a message is written: what is written from now on leaves at the end of this turn. */
export function holdTogether(stream: Writable): void {
  if (stream.writableLength > MAX_HELD_BYTES) return letGo(stream);
  if (held.has(stream)) return;
  held.add(stream);
  stream.cork();
  setImmediate(letGo, stream);
}

function letGo(stream: Writable): void {
  if (held.delete(stream)) stream.uncork();
}
