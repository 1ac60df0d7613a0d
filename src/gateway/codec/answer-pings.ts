// Answers the pings of a WebSocket, as `ws` would by itself, but looks at what is unsent: a peer that pings and never reads would fill
// the memory with answers. While too much is unsent, nothing more is read from it.
import type { WebSocket } from 'ws';

/** Above this many unsent bytes, reading from the peer pauses. */
export const PAUSE_BYTES = 1024 * 1024;

/** Needs a socket with `autoPong: false`. Call what it returns when something was sent: reading goes on when enough was. */
export function answerPings(socket: WebSocket, onSent?: () => void): () => void {
  const sent = (): void => {
    onSent?.();
    if (socket.isPaused && socket.bufferedAmount < PAUSE_BYTES) socket.resume();
  };
  socket.on('ping', (payload: Buffer) => {
    if (socket.readyState !== socket.OPEN) return;
    socket.pong(payload, undefined, sent);
    if (socket.bufferedAmount > PAUSE_BYTES) socket.pause();
  });
  return sent;
}
