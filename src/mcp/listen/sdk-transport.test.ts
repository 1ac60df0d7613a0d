import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { FakeTarget, enveloped, fakeContext, request, settled } from '../eras/fake-context.contract.ts';
import { acceptSdkTransport } from './sdk-transport.ts';

/** Like the in-memory pair of the SDK: messages are handed over as objects. */
class FakeTransport implements Transport {
  readonly sent: JsonObject[] = [];
  closed = 0;
  failing = false;
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  async start(): Promise<void> {}

  send(message: JSONRPCMessage): Promise<void> {
    if (this.failing) throw new Error('cannot send');
    this.sent.push(message);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.closed += 1;
    this.onclose?.();
  }

  receive(message: unknown): void {
    this.onmessage!(message as JSONRPCMessage);
  }
}

describe('an SDK transport', () => {
  it('serves both eras and does not change the other side’s objects', async () => {
    const transport = new FakeTransport();
    await acceptSdkTransport(fakeContext(new FakeTarget(() => ({ tools: [] }))), transport);
    const message = enveloped(1, 'tools/list', {}, { progressToken: 'p' });
    const before = JSON.stringify(message);
    transport.receive(message);
    transport.receive(request(2, 'initialize', { protocolVersion: '2025-11-25' }));
    await settled();
    expect(JSON.stringify(message)).toBe(before);
    expect(transport.sent).toMatchObject([
      { id: 1, result: { resultType: 'complete' } },
      { id: 2, result: {} },
    ]);
  });

  it.each([undefined, null, 7, 'x', [], {}, { jsonrpc: '2.0' }, { jsonrpc: '2.0', id: 1, method: 'x', params: [] }])(
    'answers %j with an error and lives on',
    async (odd) => {
      const transport = new FakeTransport();
      await acceptSdkTransport(fakeContext(), transport);
      transport.receive(odd);
      transport.receive(request(2, 'ping'));
      await settled();
      expect(transport.sent).toMatchObject([{ error: {} }, { id: 2, result: {} }]);
    },
  );

  it('that cannot send does not end the process', async () => {
    const transport = new FakeTransport();
    const context = fakeContext();
    await acceptSdkTransport(context, transport);
    transport.failing = true;
    transport.receive(request(1, 'ping'));
    await settled();
    transport.failing = false;
    transport.receive(request(2, 'ping'));
    await settled();
    expect(transport.sent).toMatchObject([{ id: 2 }]);
    expect(context.lines.join()).toContain('transport.error');
  });

  it('cancels requests in flight when either side closes it', async () => {
    for (const end of ['ours', 'theirs'] as const) {
      const transport = new FakeTransport();
      const target = new FakeTarget(() => new Promise(() => {}));
      const connection = await acceptSdkTransport(fakeContext(target), transport);
      transport.receive(enveloped(1, 'tools/call'));
      await (end === 'ours' ? connection.close() : transport.close());
      expect(target.seen[0]!.signal.aborted).toBe(true);
      expect(transport.closed).toBe(1);
    }
  });
});
