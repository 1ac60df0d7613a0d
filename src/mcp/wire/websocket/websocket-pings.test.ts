import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { FakeClock } from '../../eras/fake-context.contract.ts';
import { keepAlive } from './websocket-pings.ts';

class FakeSocket extends EventEmitter {
  isPaused = false;
  pings = 0;
  terminated = 0;

  ping(): void {
    this.pings++;
  }

  terminate(): void {
    this.terminated++;
    this.emit('close');
  }
}

function setUp() {
  const clock = new FakeClock();
  const socket = new FakeSocket();
  const gone: number[] = [];
  keepAlive(socket as unknown as WebSocket, { clock, everyMs: 10, onGone: (ms) => void gone.push(ms) });
  return { clock, socket, gone };
}

describe('the heartbeat of a WebSocket', () => {
  it('ends a silent peer after the third interval', () => {
    const { clock, socket, gone } = setUp();
    clock.advance(10);
    clock.advance(10);
    expect([socket.pings, socket.terminated]).toEqual([2, 0]);
    clock.advance(10);
    expect([socket.pings, socket.terminated, gone]).toEqual([2, 1, [30]]);
    expect(clock.timers).toBe(0);
  });

  it.each(['pong', 'ping', 'message'])('keeps a peer that sends %s', (event) => {
    const { clock, socket } = setUp();
    for (let beat = 0; beat < 20; beat++) {
      clock.advance(10);
      if (beat % 2 === 0) socket.emit(event);
    }
    expect([socket.pings, socket.terminated]).toEqual([20, 0]);
  });

  it('does not count silence while we do not read', () => {
    const { clock, socket } = setUp();
    socket.isPaused = true;
    for (let beat = 0; beat < 20; beat++) clock.advance(10);
    expect(socket.terminated).toBe(0);
    socket.isPaused = false;
    for (let beat = 0; beat < 3; beat++) clock.advance(10);
    expect(socket.terminated).toBe(1);
  });

  it('stops pinging after the socket has closed', () => {
    const { clock, socket } = setUp();
    socket.emit('close');
    expect(clock.timers).toBe(0);
    clock.advance(100);
    expect(socket.pings).toBe(0);
  });
});
