// Servers that attack the gateway by the shape of what they send: its memory stays within its budget, the call is told, and others go on.
import { describe, expect, test } from 'vitest';
import { besieged } from '../helpers/besieged.ts';
import type { Besieged } from '../helpers/besieged.ts';
import { fixture } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { callModern, modern } from '../helpers/mcp-http.ts';

/** The budget of all memory that the process may use, in MB. */
const PEAK_MB = 400;
const foe = fixture('hostile');

async function attacked(gateway: Besieged, name: string, args = {}): Promise<string> {
  const { json } = await callModern(gateway.url, `foe__${name}`, args);
  return JSON.stringify(json).slice(0, 1000);
}

describe.runIf(process.platform === 'linux')('an answer', () => {
  test.each([
    ['deep', 'nested deeper than 512 levels (limits.maxDepth)'],
    ['deep-late', 'nested deeper than 512 levels (limits.maxDepth)'],
    ['deep-error', 'nested deeper than 512 levels (limits.maxDepth)'],
    ['wide', 'more than 1000000 values (limits.maxValues)'],
    ['large', 'larger than 67108864 bytes (limits.maxResultBytes)'],
    ['large-late', 'larger than 67108864 bytes (limits.maxResultBytes)'],
  ])('that is %s fails its call at once, and costs no more memory than its bytes', async (shape, why) => {
    await using gateway = await besieged({ foe });
    await gateway.during(async () => {
      for (let n = 0; n < 2; n++) expect(await attacked(gateway, shape)).toContain(why);
    });
    expect(await attacked(gateway, 'echo', { text: 'still here' })).toContain('still here');
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });

  test('without an end fails its call, and ends the server', async () => {
    await using gateway = await besieged({ foe }, { maxResultBytes: 1_000_000 });
    await gateway.during(async () => expect(await attacked(gateway, 'endless')).toContain('larger than 1000000 bytes'));
    expect(await attacked(gateway, 'echo', { text: 'started again' })).toContain('started again');
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });
});

describe.runIf(process.platform === 'linux')('a server that does not read', () => {
  test('and floods the gateway with requests is ended', async () => {
    await using gateway = await besieged({ foe }, { maxBufferedBytes: 16 * 1024 * 1024 });
    await gateway.during(async () =>
      expect(await attacked(gateway, 'ask-unheard')).toContain('does not read its input'),
    );
    expect(await attacked(gateway, 'echo', { text: 'started again' })).toContain('started again');
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });

  test('is ended when too much waits for it, and the calls that wait fail', async () => {
    await using gateway = await besieged({ foe }, { maxBufferedBytes: 8 * 1024 * 1024 });
    const text = 'x'.repeat(1_000_000);
    await gateway.during(async () => {
      const deaf = attacked(gateway, 'deaf');
      const calls = Array.from({ length: 38 }, () => attacked(gateway, 'echo', { text }));
      expect(await deaf).toContain('does not read its input');
      // Those that come later have a new process.
      expect((await Promise.all(calls)).some((answer) => answer.includes('does not read its input'))).toBe(true);
    });
    expect(await attacked(gateway, 'echo', { text: 'started again' })).toContain('started again');
    expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
  });
});

describe.runIf(process.platform === 'linux')('a list', () => {
  test.each(['pages', 'wide-list', 'names'])(
    'that is endless, wide or never the same (%s) is cut off',
    async (habit) => {
      await using gateway = await besieged({ foe: fixture('hostile', [habit]) });
      const { body, headers } = modern('tools/list');
      let count = 0;
      await gateway.during(async () => {
        for (let n = 0; n < 20; n++) {
          const { json } = await send(gateway.url, { body, headers });
          count = (json.result!.tools as unknown[]).length;
        }
      });
      expect(count).toBeLessThan(1100);
      expect(gateway.peakMb()).toBeLessThan(PEAK_MB);
    },
  );
});
