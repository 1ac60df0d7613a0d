import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { PassThrough } from 'node:stream';
import { FakeTarget, enveloped, fakeFront, settled } from '../dialect/fake-front.contract.ts';
import { META } from '../dialect/meta.ts';
import { Doors } from './doors.ts';

class FakeTransport implements Transport {
  closed = 0;
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;

  async start(): Promise<void> {}
  async send(): Promise<void> {}
  async close(): Promise<void> {
    this.closed += 1;
    this.onclose?.();
  }
}

describe('several doors to one target', () => {
  it('a client that left by itself is not closed again', async () => {
    const doors = new Doors(fakeFront());
    const [left, stayed] = [new FakeTransport(), new FakeTransport()];
    await doors.connect(left);
    await doors.connect(stayed);
    await left.close();
    await doors.close();
    expect([left.closed, stayed.closed]).toEqual([1, 1]);
  });

  it('closing one ends nothing that came in by another; closing all ends everything', async () => {
    const target = new FakeTarget((exchange) => exchange.ask({ method: 'roots/list' }));
    const front = fakeFront(target);
    const doors = new Doors(front);
    const input = new PassThrough();
    await doors.listen({ stdio: true, input, output: new PassThrough() });
    const roots = { [META.clientCapabilities]: { roots: {} } };
    for (const message of [
      enveloped(1, 'subscriptions/listen', { notifications: {} }),
      enveloped(2, 'tools/call', {}, roots),
    ]) {
      input.write(`${JSON.stringify(message)}\n`);
    }
    await settled();
    await settled();
    doors.endpoint({}).close();
    expect([front.listens.size, front.parked.size]).toEqual([1, 1]);
    await doors.close();
    expect([front.listens.size, front.parked.size]).toEqual([0, 0]);
    expect(target.watchers).toBe(0);
  });
});
