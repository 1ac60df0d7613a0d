// Clients that attack the gateway by the shape of what they send and by not reading: its memory stays within its budget, and a polite
// client goes on.
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { besieged } from '../helpers/besieged.ts';
import type { Besieged } from '../helpers/besieged.ts';
import { fixture } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const PEAK_MB = 400;
/** 5000 in the long run. */
const IDLE = Number(process.env.PARLEY_IDLE_CONNECTIONS ?? 500);
const MiB = 1024 * 1024;

/** A connection by hand, which is ended with the test. */
class Raw implements Disposable {
  readonly socket: Socket;
  text = '';
  isClosed = false;

  constructor({ port }: Besieged, reads = true) {
    this.socket = connectTcp(port, '127.0.0.1');
    this.socket.on('error', () => {}).on('close', () => (this.isClosed = true));
    if (reads) this.socket.setEncoding('latin1').on('data', (chunk: string) => (this.text += chunk));
    else this.socket.pause();
  }

  write(text: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      const written = this.socket.write(text, () => resolve());
      if (written || this.isClosed) resolve();
      this.socket.once('close', () => resolve());
    });
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

class RawGroup implements Disposable {
  readonly raws: Raw[];

  constructor(gateway: Besieged, length: number, reads = true) {
    this.raws = Array.from({ length }, () => new Raw(gateway, reads));
  }

  [Symbol.dispose](): void {
    for (const raw of this.raws) raw[Symbol.dispose]();
  }
}

function postHead(length: number | 'chunked'): string {
  const size = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const { headers } = modern('tools/call', { name: 'polite__echo' });
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${more.join('')}${size}\r\n\r\n`;
}

describe.runIf(process.platform === 'linux')('a request', () => {
  test('that is deep or wide is refused with its id, and others do not wait for it', async () => {
    await using gateway = await besieged();
    const { headers } = modern('tools/call', { name: 'polite__echo' });
    await gateway.during(async () => {
      for (const [params, status] of [
        ['['.repeat(3_900_000), 400],
        [`[${'[],'.repeat(1_200_000)}[]]`, 413],
        ['{"a":'.repeat(700_000), 400],
      ] as const) {
        const reply = await send(gateway.url, {
          headers,
          body: `{"jsonrpc":"2.0","id":77,"method":"x","params":${params}}`,
        });
        expect({ status: reply.status, id: reply.json.id }).toEqual({ status, id: 77 });
      }
    });
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });

  test('whose body never ends is refused when the budget is used up', async () => {
    await using gateway = await besieged({}, { maxHeldBytes: 64 * MiB });
    using group = new RawGroup(gateway, 60);
    const { raws } = group;
    await gateway.during(async () => {
      for (const raw of raws) {
        await raw.write(postHead(4 * MiB));
        await raw.write(Buffer.alloc(4 * MiB - 10, 'x'));
      }
      await until('a refusal', () => raws.some(({ text }) => text.includes('429')));
    });
    expect(raws.find(({ text }) => text.includes('429'))!.text).toContain('maxHeldBytes');
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });
});

describe.runIf(process.platform === 'linux')('a client that does not read', () => {
  test('its pings are not answered without end', async () => {
    await using gateway = await besieged();
    using raw = new Raw(gateway, false);
    await raw.write(
      'GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
    );
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 + 125, 0, 0, 0, 0]), Buffer.alloc(125, 'p')]);
    const many = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    // The socket takes what the kernel buffers; then the gateway reads no more.
    let taken = 0;
    await gateway.during(async () => {
      for (let n = 0; n < 1000 && !raw.socket.writableNeedDrain; n++) {
        raw.socket.write(many);
        await new Promise((resolve) => setTimeout(resolve, 1));
        taken = n;
      }
    });
    expect(taken).toBeLessThan(999);
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });

  test('loses its streams when the budget is used up', async () => {
    await using gateway = await besieged({ foe: fixture('hostile') }, { maxHeldBytes: 32 * MiB });
    using group = new RawGroup(gateway, 40, false);
    const { raws } = group;
    await gateway.during(async () => {
      for (const raw of raws) {
        const { body } = modern('tools/call', { name: 'polite__echo', arguments: { text: 'x'.repeat(3 * MiB) } });
        const text = JSON.stringify(body);
        await raw.write(postHead(text.length) + text);
      }
      // Without reading, only writing shows that a connection has ended.
      await until('one to be cut off', () => {
        for (const raw of raws) if (!raw.isClosed) raw.socket.write(' ');
        return raws.some(({ isClosed }) => isClosed);
      });
    });
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });
});

describe.runIf(process.platform === 'linux')('many', () => {
  test(`idle connections (${IDLE}) cost little, and others go on`, async () => {
    await using gateway = await besieged();
    using group = new RawGroup(gateway, IDLE);
    await gateway.during(async () => {
      for (const raw of group.raws) await raw.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    });
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });

  test('capabilities of different clients start few processes, and large ones are refused', async () => {
    await using gateway = await besieged({ foe: fixture('hostile') }, { maxProcesses: 4 });
    await gateway.during(async () => {
      const calls = Array.from({ length: 40 }, (_, n) => {
        const capabilities = { elicitation: {}, experimental: { [`key-${n}`]: {} } };
        const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
        const { body, headers } = modern('tools/call', { name: 'foe__echo', arguments: { text: 'x' } }, meta);
        return send(gateway.url, { body, headers });
      });
      await Promise.all(calls);
      const meta = { 'io.modelcontextprotocol/clientCapabilities': { experimental: { big: 'x'.repeat(MiB) } } };
      const { body, headers } = modern('tools/list', {}, meta);
      const big = await send(gateway.url, { body, headers });
      expect(big.status).toBe(400);
      expect(big.text).toContain('65536');
    });
    // Two servers, at most four processes of each.
    expect(gateway.children()).toBeLessThanOrEqual(8);
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });

  test('sessions that are opened and never used end before one that was used', async () => {
    await using gateway = await besieged({}, { maxSessionsPerCaller: 50 });
    const session = await openSession(gateway.url);
    expect((await session.request('ping')).status).toBe(200);
    const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    await gateway.during(async () => {
      for (let n = 0; n < 100; n++) await send(gateway.url, { body: rpc('initialize', opening) });
    });
    expect((await session.request('ping')).status).toBe(200);
  });
});
