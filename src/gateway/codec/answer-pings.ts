// Answers the pings of a WebSocket, as `ws` would by itself, but with bounds: a peer that pings and never reads would fill the memory with
// answers, and one that pings without a pause would keep others waiting.
// 1. While too much is unsent, nothing more is read.
// 2. Of the pings that arrive together the last one is answered, as RFC 6455 (5.5.3) allows. After many, reading waits for its slot.
import type { WebSocket } from 'ws';
import { waitForSlot } from './slots.ts';

/** Above this many unsent bytes, reading from the peer pauses. */
export const PAUSE_BYTES = 1024 * 1024;
/** This many pings at once do not count as a flood. */
const MAX_PINGS = 32;

export interface PingOptions {
  onSent?: () => void;
  /** Whether reading is paused for another reason. */
  isHeld?: () => boolean;
}

/** Needs a socket with `autoPong: false`. Call the returned function when something was sent: reading resumes when enough was. */
export function answerPings(socket: WebSocket, { onSent, isHeld }: PingOptions): () => void {
  let pings = 0;
  let last: Buffer;
  let isWaiting = false;
  const resume = (): void => {
    if (socket.isPaused && !isWaiting && socket.bufferedAmount < PAUSE_BYTES && !isHeld?.()) socket.resume();
  };
  const sent = (): void => {
    onSent?.();
    resume();
  };
  const takeSlot = (): void => {
    isWaiting = false;
    resume();
  };
  const answer = (): void => {
    pings = 0;
    if (socket.readyState !== socket.OPEN) return;
    socket.pong(last, undefined, sent);
    if (socket.bufferedAmount > PAUSE_BYTES) socket.pause();
  };
  socket.on('ping', (payload: Buffer) => {
    last = payload;
    if (++pings === 1) setImmediate(answer);
    if (pings < MAX_PINGS || isWaiting || socket.readyState !== socket.OPEN) return;
    isWaiting = true;
    socket.pause();
    waitForSlot(takeSlot);
  });
  return sent;
}
