import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { PassThrough } from 'node:stream';
import { FakeTarget, enveloped, fakeContext, settled } from '../eras/fake-context.contract.ts';
import { META } from '../eras/meta.ts';
import { TransportListeners } from './transport-listeners.ts';

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

describe('several listeners of one target', () => {
  it('do not close a client that has left', async () => {
    const doors = new TransportListeners(fakeContext());
    const [left, stayed] = [new FakeTransport(), new FakeTransport()];
    await doors.connect(left);
    await doors.connect(stayed);
    await left.close();
    await doors.close();
    expect([left.closed, stayed.closed]).toEqual([1, 1]);
  });

  it('close independently, and all at once', async () => {
    const target = new FakeTarget((exchange) => exchange.ask({ method: 'roots/list' }));
    const context = fakeContext(target);
    const doors = new TransportListeners(context);
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
    expect([context.listens.size, context.parked.size]).toEqual([1, 1]);
    await doors.close();
    expect([context.listens.size, context.parked.size]).toEqual([0, 0]);
    expect(target.watchers).toBe(0);
  });
});
