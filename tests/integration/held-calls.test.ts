// Large calls that are not answered count against the byte budget of the process on connections that both sides share, too: WebSocket and
// stdio. What is beyond it is refused with its id, and small calls go on.
import { spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import { socketWire, stdioWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { modern, rpc } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const MiB = 1024 * 1024;
const LIMITS = JSON.stringify({ maxHeldBytes: 8 * MiB });
const CALLS = 24;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const WIRES: Record<string, () => Promise<() => Promise<Wire>>> = {
  WebSocket: async () => {
    const server = await startHttp(fixture('hangs', [LIMITS]));
    open.push(() => server.stop());
    return async () => {
      const { wire, socket } = await socketWire(server.port);
      open.push(() => socket.terminate());
      return wire;
    };
  },
  stdio: async () => {
    const { command, args = [], cwd } = fixture('hangs', [LIMITS, '--stdio']);
    const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
    open.push(() => child.kill('SIGKILL'));
    const wire = stdioWire(child);
    return () => Promise.resolve(wire);
  },
};

const ERAS: Record<string, (name: string, args: object) => { id: unknown; method: string }> = {
  '2025-11-25': (name, args) => rpc('tools/call', { name, arguments: args }) as never,
  '2026-07-28': (name, args) => modern('tools/call', { name, arguments: args }).body as never,
};

describe.each(Object.keys(WIRES))('over %s', (kind) => {
  test.each(Object.keys(ERAS))('calls that are not answered do not fill the memory, in %s', async (era) => {
    const connect = await WIRES[kind]!();
    const wire = await connect();
    if (era === '2025-11-25') await wire.initialize();
    const toCall = ERAS[era]!;
    const ask = (call: { id: unknown }) => {
      wire.write(call);
      return wire.answerTo(call.id);
    };
    const attack = Array.from({ length: CALLS }, () => toCall('hang', { text: 'x'.repeat(MiB) }));
    for (const call of attack) wire.write(call);
    const { result } = await ask(toCall('calls', {}));
    const held = Number(result!.content![0]!.text);
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(8);
    const refused = wire.messages.filter(({ error }) => error?.message.includes('Too many bytes at once'));
    expect(refused).toHaveLength(CALLS - held);
    const ids = new Set(attack.map(({ id }) => id));
    expect(refused.every(({ id }) => ids.has(id))).toBe(true);
    // A call that is cancelled gives its room back.
    const cancel = (id: unknown) => ({ method: 'notifications/cancelled', params: { requestId: id } });
    for (const { id } of attack) wire.write({ jsonrpc: '2.0', ...cancel(id) });
    const again = await ask(toCall('length', { text: 'x'.repeat(MiB) }));
    expect(again.result?.content?.[0]?.text).toBe(String(MiB));
    // So does one that is answered.
    for (let n = 0; n < CALLS; n++) {
      const { error } = await ask(toCall('length', { text: 'x'.repeat(MiB) }));
      expect(error).toBeUndefined();
    }
  });
});

test('a connection that is gone gives its room back', async () => {
  const connect = await WIRES.WebSocket!();
  for (let n = 0; n < 4; n++) {
    const wire = await connect();
    await wire.initialize();
    const large = () => wire.call('length', { text: 'x'.repeat(MiB) });
    await until('room for a large call', async () => (await large()).error === undefined);
    for (let count = 0; count < CALLS; count++) wire.write(ERAS['2025-11-25']!('hang', { text: 'x'.repeat(MiB) }));
    expect((await large()).error?.message).toContain('Too many bytes at once');
    await open.pop()!();
  }
});
