// Detects a dead WebSocket peer. One that was cut off silently (a cable, a suspended machine) never closes, and TCP
// notices late or never; a live peer answers pings.
// 1. Any received data counts, not only a pong.
// 2. While we do not read, its silence does not count.
// 3. No timer remains after the socket has closed.
import type { WebSocket } from 'ws';
import type { Clock } from '../../shared/clock.ts';

export interface HeartbeatOptions {
  clock: Clock;
  /** The interval between pings. */
  everyMs: number;
  /** Called before the socket is terminated. */
  onGone: (silentMs: number) => void;
}

/** Unanswered pings to tolerate; one may be late. */
const MAX_MISSED = 2;

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
