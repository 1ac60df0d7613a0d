// Steps that fail and are retried, miss a heartbeat, or wait for a limit; and mistakes of authors, which fail at once.
import { describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { Ask } from '../authoring/ask.ts';
import { f } from '../authoring/fields.ts';
import type { StepOptions } from '../authoring/step.ts';
import { flow } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const me = { principal: 'me' };

function served(body: (ask: Ask) => Promise<unknown>) {
  const clock = manualClock();
  const sessions = new Sessions([flow({ name: 'x' }, body)], { clock, log: createLog({ level: 'silent' }) });
  return { clock, sessions, start: () => sessions.start({ ...me, tool: 'x' }) };
}

class Busy extends Error {
  override name = 'Busy';
}

describe('a step with a retry policy', () => {
  async function tried(
    options: Pick<StepOptions<string>, 'retry' | 'timeout' | 'heartbeat'>,
    fails: (attempt: number) => Error | undefined,
  ) {
    const at: number[] = [];
    const keys = new Set<string>();
    const { clock, start } = served((ask) =>
      ask.step(
        'work',
        (step) => {
          at.push(clock.now());
          keys.add(step.idempotencyKey);
          const error = fails(step.attempt);
          if (error) throw error;
          return `done at ${step.attempt}`;
        },
        { effect: 'retry', ...options },
      ),
    );
    const turn = await start();
    let last: Awaited<ReturnType<typeof settled>> | undefined;
    void settled(turn).then((ended) => (last = ended));
    await until('the end', () => (clock.move(100), last));
    expect(keys.size).toBe(1);
    return { ...last!, pauses: at.slice(1).map((time, index) => time - at[index]!) };
  }

  it('is tried again after growing pauses, with the same idempotency key', async () => {
    const policy = { attempts: 5, pause: '1s', maxPause: '3s' } as const;
    const { result, pauses } = await tried({ retry: policy }, (attempt) => (attempt < 5 ? new Busy() : undefined));
    expect({ result, pauses }).toEqual({ result: 'done at 5', pauses: [1000, 2000, 3000, 3000] });
  });

  it.each<[string, StepOptions<string>['retry'], number]>([
    ['its attempts are used up', { attempts: 3 }, 3],
    ['no other error was meant', { attempts: 9, on: ['Other'] }, 1],
    ['its function says no', { attempts: 9, on: ({ message }) => message !== 'busy' }, 1],
    ['there is no more time', { attempts: 9, within: '4s' }, 3],
  ])('fails with the error of its last try when %s', async (_, retry, tries) => {
    const { failure, pauses } = await tried({ retry: retry! }, () => new Busy('busy'));
    expect(failure).toMatchObject({ name: 'Busy', message: 'busy' });
    expect(pauses).toHaveLength(tries - 1);
  });

  it('is not tried again when its session is cancelled meanwhile', async () => {
    let tries = 0;
    const { sessions, start } = served(async (ask) => {
      const work = () => {
        tries++;
        throw new Busy();
      };
      await ask.step('work', work, { effect: 'retry', undo: () => {}, retry: { attempts: 9, pause: '1h' } });
    });
    const { header } = await start();
    await until('the first try', () => tries === 1);
    await sessions.cancel({ ...me, sessionId: header.id });
    expect(tries).toBe(1);
  });
});

it('a step that falls silent has failed, one with a heartbeat has not', async () => {
  const idle = (): void => {};
  let beat = idle;
  const { clock, start } = served((ask) =>
    ask.step(
      'work',
      (step) =>
        new Promise((_, reject) => {
          beat = () => step.heartbeat();
          step.signal.addEventListener('abort', () => reject(new Error('late')));
        }),
      { effect: 'retry', heartbeat: '10s', timeout: '1h' },
    ),
  );
  const turn = await start();
  await until('the step to begin', () => beat !== idle);
  for (let seconds = 0; seconds < 30; seconds += 5) {
    beat();
    clock.move(5000);
  }
  clock.move(10_001);
  expect((await settled(turn)).failure).toMatchObject({
    name: 'FLOW_TIMEOUT',
    message: 'The next heartbeat of step work took longer than 10000 ms',
  });
});

it('progress of the body is sent once, when a step begins', async () => {
  const { sessions, start } = served(async (ask) => {
    ask.progress(1, 3, 'Asking');
    await ask.text('q');
    ask.progress(2, 3, 'Working');
    await ask.step('a', () => 1, { effect: 'retry' });
    await ask.step('b', () => 1, { effect: 'retry' });
    ask.progress(3, 3, 'Nearly there');
    return ask.step('c', (step) => step.progress(4), { effect: 'retry' });
  });
  const told: unknown[] = [];
  sessions.on((event) => void (event.kind === 'progress' && told.push(event.progress.current)));
  const { header, questions } = await start();
  expect(questions[0]?.progress).toEqual({ current: 1, total: 3, message: 'Asking' });
  await settled(await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'x' }] }));
  expect(told).toEqual([2, 3, 4]);
});

it('of steps with one limit no more run at once, in whatever session they are', async () => {
  let running = 0;
  let most = 0;
  const { start } = served(async (ask) => {
    const work = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    };
    const limit = { name: 'database', max: 2 };
    await Promise.all([ask.step('a', work, { limit }), ask.step('b', work, { limit }), ask.step('c', work, { limit })]);
    return 'done';
  });
  const turns = await Promise.all(Array.from({ length: 5 }, start));
  for (const turn of turns) expect((await settled(turn)).result).toBe('done');
  expect(most).toBe(2);
});

describe('a mistake of the author', () => {
  const none: string[] = [];
  it.each<[string, (ask: Ask) => Promise<unknown>, RegExp]>([
    ['a question in a step', (ask) => ask.step('s', () => ask.text('q')), /in x: the question q is inside the step s/],
    ['a step in a step', (ask) => ask.step('s', () => ask.step('t', () => 1)), /in x: the step t is inside the step s/],
    [
      'a question in a step, later',
      (ask) => ask.step('s', async () => (await Promise.resolve(), ask.text('q'))),
      /in x: the question q is inside the step s/,
    ],
    [
      'an effect that nobody waits for',
      async (ask) => void ask.step('charge', () => 1, { effect: 'retry' }),
      /in x: the step charge is never awaited/,
    ],
    ['a question that nobody waits for', async (ask) => void ask.text('q'), /in x: the question q is never awaited/],
    ['no choices', (ask) => ask.choice('c', none), /in x: ask.choice\('c'\) without choices/],
    ['no choices of several', (ask) => ask.choices('c', none), /ask.choices\('c'\) without choices/],
    ['min above max', (ask) => ask.number('n', { min: 3, max: 1 }), /min 3, which is more than max 1/],
    ['days the wrong way round', (ask) => ask.date('d', { min: '2026-02-01', max: '2026-01-01' }), /more than max/],
    ['min above max in a form', async (ask) => ask.form('f', { n: f.text({ min: 3, max: 1 }) }), /more than max 1/],
    [
      'a person with too long a name',
      (ask) => ask.person('x'.repeat(501)).text('t'),
      /501 characters; it has at most 500/,
    ],
    [
      'a Date',
      (ask) => ask.step('s', (): unknown => ({ at: [new Date()] })),
      /a Date at "at.0" as the result of step s/,
    ],
    ['a Map', (ask) => ask.step('s', (): unknown => new Map()), /a Map as the result of step s/],
    ['NaN', (ask) => ask.step('s', () => ({ n: Number.NaN })), /NaN at "n" as the result/],
    ['bytes', (ask) => ask.step('s', (): unknown => Buffer.from('x')), /a Buffer as the result/],
    [
      'a retry of what must happen once',
      (ask) => ask.step('s', () => 1, { effect: 'once', retry: { attempts: 2 } }),
      /which is to happen once; give it a check/,
    ],
  ])('is told at once: %s', async (_, body, words) => {
    const { start } = served(body);
    const { failure } = await settled(await start());
    expect(failure).toMatchObject({ name: 'FLOW_MISUSED', message: expect.stringMatching(words) });
  });

  it('is not reported if a promise is awaited later or loses a race', async () => {
    const { sessions, start } = served(async (ask) => {
      const later = ask.step('a', () => 'a');
      await ask.text('q');
      const first = await Promise.race([ask.step('b', () => 'b'), ask.step('c', () => new Promise(() => {}))]);
      return [await later, first, (await ask.try(ask.step('d', () => 'd'))).ok];
    });
    const { header } = await start();
    const answers = [{ value: 'x' }];
    const turn = await settled(await sessions.answer({ ...me, sessionId: header.id, answers }));
    expect(turn.result).toEqual(['a', 'b', true]);
  });
});
