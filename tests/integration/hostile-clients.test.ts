// Clients that attack the gateway by the shape of what they send and by not reading: its memory, processor time and children stay within
// their budgets, and a polite client goes on. `PARLEY_SHAPES=measure` attacks longer and compares the polite client with one of a gateway
// that nobody attacks; with UPDATE_DOCS=1 the figures go into docs/evidence/attacks.md.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { besieged } from '../helpers/besieged.ts';
import { fixture } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { Raw, RawGroup, postHead } from '../helpers/raw-client.ts';
import { writeShapes } from '../helpers/shape-table.ts';
import { until } from '../helpers/until.ts';

const MiB = 1024 * 1024;
/** As many as the system lets one process open, twice: this process has the other ends. */
const IDLE = fileLimit() > 12_000 ? 5000 : 500;
const OPENING = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };

function fileLimit(): number {
  const [, soft = '0'] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Number(soft);
}

afterAll(() => writeShapes('hostile-clients'));

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
    gateway.expectHeld('requests of 4 MB that are deep or wide');
  });

  test('whose body never ends is refused when the budget is used up', async () => {
    await using gateway = await besieged();
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 60);
      for (const raw of group.raws) {
        await raw.write(postHead(4 * MiB));
        await raw.write(Buffer.alloc(4 * MiB - 10, 'x'));
      }
      await until('a refusal', () => group.raws.some(({ text }) => text.includes('429')));
      expect(group.raws.find(({ text }) => text.includes('429'))!.text).toContain('maxHeldBytes');
    });
    gateway.expectHeld('60 bodies of 4 MB that never end');
  });
});

describe.runIf(process.platform === 'linux')('a client that does not read', () => {
  test('its pings are not answered without end', async () => {
    await using gateway = await besieged();
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 + 125, 0, 0, 0, 0]), Buffer.alloc(125, 'p')]);
    const many = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    await gateway.during(async () => {
      using raw = new Raw(gateway, false);
      await raw.write(
        'GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
      );
      // The socket takes what the kernel buffers; then the gateway reads little or nothing.
      let taken = 0;
      for (let n = 0; n < 1000 && !raw.socket.writableNeedDrain; n++) {
        raw.socket.write(many);
        await new Promise((resolve) => setTimeout(resolve, 1));
        taken = n;
      }
      expect(taken).toBeLessThan(999);
    });
    gateway.expectHeld('pings over WebSocket, answers not read');
  });

  test('loses its streams when the budget is used up', async () => {
    await using gateway = await besieged({ foe: fixture('hostile') });
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 20, false);
      for (const raw of group.raws) await raw.call('foe__long', {});
      await until('one to be cut off', () => group.isOneClosed());
    });
    gateway.expectHeld('20 results of 20 MB that are not read');
  });

  test('and sends more than a server can read does not keep others from it', async () => {
    await using gateway = await besieged();
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 40);
      await Promise.all(group.raws.map((raw) => raw.call('polite__echo', { text: 'x'.repeat(3 * MiB) })));
      const isOver = ({ text, isClosed }: Raw): boolean => isClosed || text.includes('\r\n\r\n');
      await until('all to be answered or refused', () => group.raws.every(isOver));
    });
    gateway.expectHeld('40 calls of 3 MB at once to the server of the polite client');
  });

  test('and follows progress for ever loses its stream', async () => {
    await using gateway = await besieged({ foe: fixture('hostile') }, { maxBufferedBytes: MiB });
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 4, false);
      for (const raw of group.raws) await raw.call('foe__progress', {}, { progressToken: 'p' });
      await until('one to be cut off', () => group.isOneClosed());
    });
    gateway.expectHeld('4 streams of endless progress that are not read (maxBufferedBytes 1 MiB)', {
      cpuSeconds: 60,
      children: 3,
    });
  });
});

describe.runIf(process.platform === 'linux')('many', () => {
  test(`idle connections (${IDLE}) cost little, and others continue`, async () => {
    await using gateway = await besieged();
    using group = new RawGroup(gateway, IDLE);
    let n = 0;
    await gateway.during(async () => {
      const text = n++ === 0 ? 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n' : `x-${n}: 1\r\n`;
      for (const raw of group.raws) await raw.write(text);
    });
    gateway.expectHeld(`${IDLE} idle connections`);
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
    gateway.expectHeld('40 clients with other capabilities each (maxProcesses 4)', { children: 8 });
  });

  test('sessions that can be asked start few processes', async () => {
    await using gateway = await besieged({ foe: fixture('hostile') }, { maxProcesses: 4 });
    await gateway.during(async () => {
      const open = Array.from({ length: 24 }, async () => {
        const session = await openSession(gateway.url, { capabilities: { elicitation: {} } });
        const calls = Array.from({ length: 4 }, () => session.call('foe__echo', { text: 'x' }));
        for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
      });
      await Promise.all(open);
    });
    gateway.expectHeld('24 sessions that can be asked, 4 calls each (maxProcesses 4)', { children: 8 });
  });

  test('sessions that are opened and never used end before one that was used', async () => {
    await using gateway = await besieged({}, { maxSessionsPerCaller: 50 });
    const session = await openSession(gateway.url);
    expect((await session.request('ping')).status).toBe(200);
    await gateway.during(async () => {
      for (let n = 0; n < 100; n++) await send(gateway.url, { body: rpc('initialize', OPENING) });
    });
    expect((await session.request('ping')).status).toBe(200);
    gateway.expectHeld('100 sessions that are opened and never used (maxSessionsPerCaller 50)');
  });
});
