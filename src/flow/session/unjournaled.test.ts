import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import fs, { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import 'undici'; // as a gateway has it: Node's fetch then uses its connections
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';
import { createLog } from '../../kernel/base/log.ts';

const silent = createLog({ level: 'silent' });
const folder = mkdtempSync(join(tmpdir(), 'parley-body-'));
const kept = join(folder, 'kept.txt');
afterAll(() => rmSync(folder, { recursive: true }));

async function play(body: (ask: Ask) => Promise<unknown>, checks: 'throw' | 'warn' | 'off' = 'throw') {
  const lines: string[] = [];
  const log = checks === 'warn' ? createLog({ write: (line) => void lines.push(line) }) : silent;
  const sessions = new Sessions([flow({ name: 'x' }, body)], { checks, log });
  const turn = await settled(await sessions.start({ principal: 'me', tool: 'x' }));
  await sessions.close();
  return { turn, lines };
}

describe('a body that reaches out by itself', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a file', () => readFile(import.meta.filename)],
    ['a name', () => lookup('localhost')],
    ['a timer', () => pause(1)],
    ['a fetch', () => fetch('http://127.0.0.1:49151').catch(() => {})],
    ['a request', () => new Promise((resolve) => get('http://127.0.0.1:49151').on('error', resolve))],
  ])('is told so, with the line: %s', async (_, reach) => {
    const { turn } = await play(async (ask) => {
      await reach();
      await ask.text('never');
    });
    expect(turn.failure?.name).toBe('FLOW_UNJOURNALED');
    expect(turn.failure?.message).toMatch(/unjournaled\.test\.ts:\d+/);
    expect(turn.header.state).toBe('error');
  });

  it.each<[string, () => unknown]>([
    ['fs.readFileSync', () => readFileSync(import.meta.filename)],
    ['fs.rmSync', () => fs.rmSync(kept)],
    ['fs.existsSync', () => fs.existsSync(kept)],
    ['child_process.execFileSync', () => execFileSync('rm', [kept])],
  ])('is stopped before it has done anything, where it does not even wait: %s', async (what, reach) => {
    writeFileSync(kept, 'kept');
    const { turn } = await play(async (ask) => {
      reach();
      await ask.text('never');
    });
    expect(turn.failure).toMatchObject({ name: 'FLOW_UNJOURNALED', message: expect.stringContaining(`(${what})`) });
    expect(turn.failure?.message).toMatch(/unjournaled\.test\.ts:\d+/);
    expect(readFileSync(kept, 'utf8')).toBe('kept');
  });

  it('is logged once, also where the log itself writes to a file', async () => {
    const path = join(folder, 'told.log');
    const log = createLog({ write: (line) => appendFileSync(path, line) });
    const body = async (ask: Ask) => {
      await readFile(import.meta.filename);
      return ask.text('city');
    };
    const sessions = new Sessions([flow({ name: 'x' }, body)], { checks: 'throw', log });
    const turn = await settled(await sessions.start({ principal: 'me', tool: 'x' }));
    await sessions.close();
    expect(turn.failure?.name).toBe('FLOW_UNJOURNALED');
    const told = readFileSync(path, 'utf8').match(/flow\.unjournaled/g);
    expect(told).toHaveLength(1);
  });

  it('only warns in production, and continues', async () => {
    // One run in a second is watched: of those that begin at once, the first.
    const runs = await Promise.all(
      Array.from({ length: 5 }, () =>
        play(async (ask) => {
          await pause(1);
          return ask.text('city');
        }, 'warn'),
      ),
    );
    expect(runs.every(({ turn }) => turn.questions[0]?.key === 'city')).toBe(true);
    const lines = runs.flatMap(({ lines }) => lines);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines[0]).toMatch(/flow\.unjournaled.*unjournaled\.test\.ts/);
  });
});

describe('a body that keeps to itself', () => {
  it('may do all of this', async () => {
    const { turn } = await play(async (ask) => {
      await Promise.all([Promise.resolve(1), new Promise((resolve) => process.nextTick(resolve))]);
      // oxlint-disable-next-line no-console -- looking for a mistake is not a mistake
      console.log('');
      JSON.stringify(new Date());
      structuredClone({ a: 1 });
      createRequire(import.meta.url)('node:zlib');
      return ask.step('read', async () => {
        await readFile(import.meta.filename);
        readFileSync(import.meta.filename);
        await pause(1);
        return 'done';
      });
    });
    expect(turn.result).toBe('done');
  });
});
