// The pings of a WebSocket, in both directions: those of the peer are answered within bounds, and ours find out whether the peer is alive.
import type { WebSocket } from 'ws';
import type { Clock } from '../../../kernel/base/clock.ts';
import { waitForSlot } from '../paced-reader.ts';

/** Above this many unsent bytes, reading from the peer pauses. */
export const PAUSE_BYTES = 1024 * 1024;
/** This many pings at once do not count as a flood. */
const MAX_PINGS = 32;

interface PingOptions {
  onSent?: () => void;
  /** Whether reading is paused for another reason. */
  isHeld?: () => boolean;
}

/**
 * Answers pings as `ws` would by itself, but with bounds: a peer that pings and never reads would fill the memory with answers, and one that
 * pings without a pause would keep others waiting. Needs a socket with `autoPong: false`. Call the returned function when something was sent:
 * reading resumes when enough was.
 * 1. While too much is unsent, nothing more is read.
 * 2. Of the pings that arrive together the last one is answered, as RFC 6455 (5.5.3) allows. After many, reading waits for its slot.
 */
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

interface HeartbeatOptions {
  clock: Clock;
  /** The interval between pings. */
  everyMs: number;
  /** Called before the socket is terminated. */
  onGone: (silentMs: number) => void;
}

/** Unanswered pings to tolerate; one may be late. */
const MAX_MISSED = 2;

/**
 * Detects a dead peer. One that was cut off silently (a cable, a suspended machine) never closes, and TCP notices late or never; a live peer
 * answers pings.
 * 1. Any received data counts, not only a pong.
 * 2. While we do not read, its silence does not count.
 * 3. No timer remains after the socket has closed.
 */
export function keepAlive(socket: WebSocket, { clock, everyMs, onGone }: HeartbeatOptions): void {
  let missed = 0;
  const onHeard = (): void => void (missed = 0);
  const beat = (): void => {
    if (socket.isPaused) missed = 0;
    else if (missed < MAX_MISSED) missed++;
    else {
      onGone((MAX_MISSED + 1) * everyMs);
      return socket.terminate();
    }
    socket.ping();
    stop = clock.after(everyMs, beat);
  };
  let stop = clock.after(everyMs, beat);
  for (const event of ['message', 'ping', 'pong']) socket.on(event, onHeard);
  socket.once('close', () => stop());
}
