import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Step } from '../../../kernel/step.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { chainOf } from '../../../kernel/fake-exchange.contract.ts';
import { watchStep } from '../load/watch-step.ts';
import { StepLifecycle } from './step-lifecycle.ts';

const lines: string[] = [];
const log = createLog({ level: 'info', write: (line) => lines.push(line) });
const createLifecycle = () => new StepLifecycle({ log, clock: systemClock });
beforeEach(() => void (lines.length = 0));

function recorded(name: string, parts: Partial<Step> = {}): { step: Step; told: unknown[] } {
  const told: unknown[] = [];
  const step: Step = {
    name,
    start: (kept) => void told.push(['start', kept]),
    keep: () => `kept by ${name}`,
    close: () => void told.push('close'),
    handle: (_exchange, next) => next(),
    ...parts,
  };
  return { step, told };
}

describe('the lifecycle of steps', () => {
  it('steps start and close once, with the gateway', async () => {
    const { step, told } = recorded('a');
    const all = createLifecycle();
    all.replace([step, { name: 'b' }, step]);
    all.replace([step]);
    expect(told).toEqual([['start', undefined]]);
    await all.close();
    await all.close();
    expect(told).toEqual([['start', undefined], 'close']);
  });

  it('a step that replaces one of the same name gets its state', async () => {
    const [first, second, other] = [recorded('a'), recorded('a'), recorded('b')];
    const all = createLifecycle();
    all.replace([first.step, other.step]);
    all.replace([second.step]);
    expect([first.told, second.told, other.told]).toEqual([
      [['start', undefined], 'close'],
      [['start', 'kept by a']],
      [['start', undefined], 'close'],
    ]);
    await all.close();
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('not kept');
      },
      undefined,
    ],
    ['rejects', () => Promise.reject(new Error('not kept')), expect.any(Promise)],
  ])('a step whose keep %s is replaced all the same, and the log says why', async (_, keep, kept) => {
    const [first, second] = [recorded('a', { keep }), recorded('a')];
    const all = createLifecycle();
    all.replace([first.step]);
    all.replace([second.step]);
    await vi.waitFor(() => expect(lines.join('')).toContain('step.not-kept'));
    expect(second.told).toEqual([['start', kept]]);
    await all.close();
  });

  it('a step whose start returns something is started', async () => {
    const all = createLifecycle();
    all.replace([{ name: 'a', start: () => 5 as unknown as undefined }]);
    await expect(all.started).resolves.toBeDefined();
    await all.close();
  });

  it('a step that fails to start changes nothing', async () => {
    const old = recorded('old');
    const early = recorded('early');
    const bad = recorded('bad', {
      start: () => {
        throw new Error('no database');
      },
    });
    const all = createLifecycle();
    all.replace([old.step]);
    expect(() => all.replace([early.step, bad.step])).toThrow(/step bad could not be started: no database/);
    expect([old.told, early.told]).toEqual([[['start', undefined]], [['start', undefined], 'close']]);
    const slow = recorded('slow', { start: () => Promise.reject(new Error('later')) });
    all.replace([slow.step]);
    await expect(all.started).rejects.toThrow(/step slow could not be started: later/);
    await all.close();
  });

  it('a step that fails to close is logged', async () => {
    const all = createLifecycle();
    all.replace([recorded('bad', { close: () => Promise.reject(new Error('stuck')) }).step]);
    await all.close();
    expect(lines.join('')).toContain('step.not-closed');
  });
});

describe('a step from a file that changes again and again', () => {
  const shared = globalThis as unknown as { stepLife: { open: number; versions: WeakRef<object>[] } };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-life-'));
    shared.stepLife = { open: 0, versions: [] };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const source = (version: number) => `
    const state = { count: 0 };
    globalThis.stepLife.versions.push(new WeakRef(state));
    let timer;
    export default {
      name: 'counter',
      start(kept) {
        if (${version} === 3) throw new Error('not this one');
        state.count = kept ?? 100;
        timer = setInterval(() => {}, 60_000);
        globalThis.stepLife.open++;
      },
      keep: () => state.count,
      close() {
        clearInterval(timer);
        globalThis.stepLife.open--;
      },
      async handle(exchange, next) {
        state.count++;
        const outcome = await next();
        outcome.result = { ...outcome.result, version: ${version}, count: state.count };
        return outcome;
      },
    };`;

  it('a reloaded step keeps its state and leaves no timers or old versions behind', async () => {
    const path = join(folder, 'counter.mjs');
    writeFileSync(path, source(1));
    const watched = await watchStep(path, { log });
    const all = createLifecycle();
    all.replace([watched.step]);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const call = chainOf([watched.step], async ({ params }) => {
      if (params.wait) await held;
      return {};
    });
    expect(await call('tools/call')).toEqual({ version: 1, count: 101 });
    const waiting = call('tools/call', { wait: true });
    for (const version of [2, 3, 4, 5, 6]) {
      writeFileSync(path, source(version));
      const reached = version === 3 ? 'not this one' : 'step.reloaded';
      await vi.waitFor(() => expect(lines.join('')).toContain(reached), { timeout: 50_000 });
      lines.length = 0;
    }
    expect(shared.stepLife.open).toBe(2); // the first still has a call
    release();
    expect(await waiting).toMatchObject({ version: 1 });
    await vi.waitFor(() => expect(shared.stepLife.open).toBe(1));
    expect(await call('tools/call')).toEqual({ version: 6, count: 103 });
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await vi.waitFor(() => {
      collect();
      expect(shared.stepLife.versions.filter((version) => version.deref())).toHaveLength(1);
    });
    await all.close();
    watched.close();
    expect(shared.stepLife.open).toBe(0);
  });
});
