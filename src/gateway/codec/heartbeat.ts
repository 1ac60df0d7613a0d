// Whether the other end of a WebSocket is still there. A peer that was cut off silently (a cable, a suspended machine) says
// nothing for ever, and TCP notices late or never; every WebSocket answers a ping, so one that does not is gone.
// 1. Anything heard counts, not the pong alone.
// 2. While we do not read from it, its silence is ours, and is not held against it.
// 3. No timer is left once the socket has closed.
import type { WebSocket } from 'ws';
import type { Clock } from '../../shared/clock.ts';

export interface HeartbeatOptions {
  clock: Clock;
  /** Between two pings. */
  everyMs: number;
  /** Told before the socket is torn. */
  onGone: (silentMs: number) => void;
}

/** Pings that may stay unanswered: one may be late. */
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
