// Servers that attack the gateway by the shape of what they send: its memory, processor time and children stay within their budgets, the
// call is told, and others go on. See hostile-clients.test.ts for measured runs.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { besieged } from '../helpers/besieged.ts';
import type { Besieged } from '../helpers/besieged.ts';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { callModern, modern, openSession } from '../helpers/mcp-http.ts';
import { RawGroup } from '../helpers/raw-client.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { writeShapes } from '../helpers/shape-table.ts';
import { until } from '../helpers/until.ts';

const MiB = 1024 * 1024;
const foe = fixture('hostile');

afterAll(() => writeShapes('hostile-servers'));

/** A server that was given up several times in a row is not started again at once; its calls are told so meanwhile. */
const NOT_YET = 'The connection to foe (the server) closed';

async function attacked(gateway: Besieged, name: string, args = {}): Promise<string> {
  return until(`an answer of ${name}`, async () => {
    const answer = await answerOf(gateway, name, args);
    return answer.includes(NOT_YET) ? undefined : answer;
  });
}

async function answerOf(gateway: Besieged, name: string, args: object): Promise<string> {
  try {
    const { json } = await callModern(gateway.url, `foe__${name}`, { ...args });
    return JSON.stringify(json).slice(0, 1000);
  } catch (error) {
    return String(error); // refused and hung up on, before all was sent
  }
}

async function expectAlive(gateway: Besieged): Promise<void> {
  expect(await attacked(gateway, 'echo', { text: 'still here' })).toContain('still here');
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
    await expectAlive(gateway);
    gateway.expectHeld(`two answers of 60 MB that are ${shape}`);
  });

  test('without an end fails its call, and ends the server', async () => {
    await using gateway = await besieged({ foe }, { maxResultBytes: 1_000_000 });
    await gateway.during(async () => expect(await attacked(gateway, 'endless')).toContain('larger than 1000000 bytes'));
    await expectAlive(gateway);
    gateway.expectHeld('a line without an end on stdio');
  });
});

describe.runIf(process.platform === 'linux')('a server that does not read', () => {
  test('and floods the gateway with requests is ended', async () => {
    await using gateway = await besieged({ foe });
    await gateway.during(async () =>
      expect(await attacked(gateway, 'ask-unheard')).toContain('does not read its input'),
    );
    await expectAlive(gateway);
    gateway.expectHeld('requests of 200 KB from a server that does not read');
  });

  test('is ended when too much waits for it, and the calls that wait fail', async () => {
    await using gateway = await besieged({ foe }, { maxBufferedBytes: 8 * MiB });
    const text = 'x'.repeat(1_000_000);
    await gateway.during(async () => {
      const deaf = attacked(gateway, 'deaf');
      const calls = Array.from({ length: 38 }, () => attacked(gateway, 'echo', { text }));
      expect(await deaf).toContain('does not read its input');
      const answers = await Promise.all(calls);
      expect(answers.some((answer) => answer.includes('is too busy'))).toBe(true);
      expect(answers.some((answer) => answer.includes('does not read its input'))).toBe(true);
    });
    await expectAlive(gateway);
    // Those that were given up count until they have ended; others have taken their place by then.
    gateway.expectHeld('38 calls of 1 MB to a server that does not read (maxBufferedBytes 8 MiB)', { children: 8 });
  });

  test('is replaced as soon as it is given up: a call that comes then does not fail', async () => {
    await using gateway = await besieged({ foe }, { maxBufferedBytes: 8 * MiB });
    const session = await openSession(gateway.url, { capabilities: { elicitation: {} } }); // with a process of its own
    const ask = (name: string, args = {}) =>
      session.call(`foe__${name}`, args).then((reply) => reply.text.slice(0, 1000), String);
    const text = 'x'.repeat(1_000_000);
    const calls = [ask('deaf'), ...Array.from({ length: 20 }, () => ask('echo', { text }))];
    let isTold = false;
    // Some of them come while its process ends.
    await until('a call is told', () => {
      const probe = ask('echo', { text: 'there?' });
      calls.push(probe);
      void probe.then((answer) => (isTold ||= answer.includes('does not read its input')));
      return isTold;
    });
    expect(await ask('echo', { text: 'still here' })).toContain('still here');
    await Promise.all(calls);
  });

  test.each([
    ['3.5 MB', 3_500_000, 'x', {}],
    ['3.5 MB in characters of three bytes', 1_160_000, '€', {}],
    ['15 MB', 15_000_000, 'x', { maxRequestBytes: 16 * MiB }],
  ])('gets calls of %s, which stay within the budget', async (title, length, char, limits) => {
    await using gateway = await besieged({ foe }, limits);
    const text = char.repeat(length);
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 39);
      const [deaf, ...others] = group.raws;
      await deaf!.call('foe__deaf', {});
      await Promise.all(others.map((raw) => raw.call('foe__echo', { text })));
      await gateway.politeCalls(10);
    });
    gateway.expectHeld(`38 calls of ${title} to a server that does not read`, { children: 8 });
  });
});

describe.runIf(process.platform === 'linux')('notifications', () => {
  test.each(['list-storm', 'log-storm'])('without a pause (%s) do not keep others waiting', async (storm) => {
    await using gateway = await besieged({ foe });
    await gateway.during(async () => expect(await attacked(gateway, storm)).toContain('told'));
    gateway.expectHeld(`100,000 notifications (${storm})`, { cpuSeconds: 30 });
  });
});

describe.runIf(process.platform === 'linux')('a stream of a server', () => {
  test.each(['line', 'json'])('without an end (%s) fails its call', async (shape) => {
    await using server = await startHttp(fixture('hostile-http'));
    await using gateway = await besieged({ foe: server.url });
    await gateway.during(async () => expect(await attacked(gateway, shape)).toContain('larger than 67108864 bytes'));
    await expectAlive(gateway);
    gateway.expectHeld(`an endless ${shape === 'json' ? 'JSON body' : 'line of an event stream'}`, { cpuSeconds: 30 });
  });

  test('that stops within an event counts against the budget', async () => {
    await using server = await startHttp(fixture('hostile-http'));
    await using gateway = await besieged({ foe: server.url });
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 12);
      for (const raw of group.raws) await raw.call('foe__half', {});
      await until('one to be refused', () => group.raws.some(({ text }) => text.includes('maxHeldBytes')));
    });
    await expectAlive(gateway);
    gateway.expectHeld('12 events of 60 MB that never end');
  });

  test.each(['progress', 'comments'])('of %s for ever does not keep others waiting', async (shape) => {
    await using server = await startHttp(fixture('hostile-http'));
    await using gateway = await besieged({ foe: server.url });
    await gateway.during(async () => {
      using group = new RawGroup(gateway, 4);
      for (const raw of group.raws) await raw.call(`foe__${shape}`, {}, { progressToken: 'p' });
      await gateway.politeCalls(20);
    });
    await expectAlive(gateway);
    gateway.expectHeld(`4 event streams of endless ${shape}`, { cpuSeconds: 60 });
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
      gateway.expectHeld(`20 lists (${habit})`, { cpuSeconds: 30 });
    },
  );

  test.each([
    ['tools', 'tools/list'],
    ['look-alikes', 'tools/list'],
    ['prompts', 'prompts/list'],
    ['resources', 'resources/list'],
    ['resourceTemplates', 'resources/templates/list'],
  ])('of 10,001 entries on one page (%s) is compared with its pins in no time', async (habit, method) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-hostile-'));
    try {
      await using gateway = await besieged({ foe: fixture('hostile', [habit]) }, {}, folder);
      await gateway.during(async () => {
        const session = await openSession(gateway.url); // a list of its own
        expect((await session.request(method)).text).toContain('"result"');
        await gateway.politeCalls(20);
      });
      gateway.expectHeld(`a list of 10,001 ${habit}`);
    } finally {
      removeFolder(folder);
    }
  });
});
