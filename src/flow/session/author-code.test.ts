// Functions and values of authors that misbehave: the session fails, or is parked under a new version, and nothing else happens.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../tests/helpers/until.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Ask } from '../authoring/ask.ts';
import { f } from '../authoring/fields.ts';
import { flow } from '../define.ts';
import type { AnyFlow, FlowOptions } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const me = { principal: 'me' };
const LEASE_MS = 1000;
const HERE = /author-code\.test\.ts:\d+:\d+$/;
type Body = (ask: Ask) => Promise<unknown>;

/** Processes of one store, with everything that they log. */
function cluster() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const logged: { event: string; where?: string; level: string }[] = [];
  const log = createLog({ write: (line) => void logged.push(JSON.parse(line) as (typeof logged)[number]) });
  const serve = (tool: AnyFlow) => new Sessions([tool], { store, clock, log, leaseMs: LEASE_MS });
  // Not typed: authors of JavaScript make these mistakes.
  const deploy = (body: Body, options: Partial<FlowOptions> = {}) =>
    serve(flow({ name: 'x', ...options }, body as never));
  return { clock, store, logged, deploy };
}

async function play(body: Body, answers: unknown[] = [], options: Partial<FlowOptions> = {}) {
  const { deploy, logged, store, clock } = cluster();
  const sessions = deploy(body, options);
  let turn = await settled(await sessions.start({ ...me, tool: 'x' }));
  const session = { ...me, sessionId: turn.header.id };
  for (const value of answers) turn = await settled(await sessions.answer({ ...session, answers: [{ value }] }));
  await sessions.idle();
  const { header } = (await store.load(session.sessionId))!;
  return { turn, header, logged, sessions, session, clock };
}

function thrower(): never {
  throw new TypeError('a secret detail');
}
const rejecter = () => Promise.reject(new TypeError('a secret detail'));
const refusing = z.string().refine(thrower);
const asyncSchema = z.string().refine(rejecter);
const transforming = z.string().transform(thrower);
const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

const rules: [string, Body][] = [
  ['a validate that throws', async (ask) => ask.text('a', { validate: thrower })],
  ['a validate that rejects', async (ask) => ask.text('a', { validate: rejecter as never })],
  ['a validate that returns something else', async (ask) => ask.text('a', { validate: (() => 7) as never })],
  ['a Zod refine that throws', async (ask) => ask.text('a', { schema: refusing })],
  ['a Zod refine that is asynchronous', async (ask) => ask.text('a', { schema: asyncSchema })],
  ['a Zod transform that throws', async (ask) => ask.text('a', { schema: transforming })],
  ['a JSON Schema that does not compile', async (ask) => ask.custom('a', { schema: { type: 'nonsense' } })],
  ['a JSON Schema with a broken pattern', async (ask) => ask.custom('a', { schema: { type: 'string', pattern: '(' } })],
];

describe('a rule of the author', () => {
  it.each(rules)('fails the session with its line in the log: %s', async (_, body) => {
    const { turn, header, logged } = await play(body, ['https://example.com']);
    expect(turn.failure).toMatchObject({ name: 'FLOW_MISUSED' });
    expect(JSON.stringify(turn.failure)).not.toContain('a secret detail');
    expect(header).toMatchObject({ state: 'error', reason: 'failed' });
    expect(logged.find(({ event }) => event === 'flow.failed')?.where).toMatch(HERE);
  });

  it.each([
    ['a field', async (ask: Ask) => ask.form('a', { b: f.text({ validate: thrower }) })],
    ['a form', async (ask: Ask) => ask.form('a', { b: f.text() }, { validate: thrower })],
  ])('of %s fails the session as well', async (_, body) => {
    const { turn, logged } = await play(body, [{ b: 'x' }]);
    expect(turn.failure).toMatchObject({ name: 'FLOW_MISUSED' });
    expect(logged.find(({ event }) => event === 'flow.failed')?.where).toMatch(HERE);
  });

  it.each([refusing, asyncSchema, { type: 'nonsense' }])('of an event fails the session of %j', async (schema) => {
    const { sessions, session, logged, store } = await (async () => {
      const made = cluster();
      const sessions = made.deploy(async (ask) => ask.event('paid', schema));
      const { header } = await sessions.start({ ...me, tool: 'x' });
      return { ...made, sessions, session: { ...me, sessionId: header.id } };
    })();
    const delivered = sessions.deliver({ sessionId: session.sessionId, event: 'paid', value: 'x' });
    await expect(delivered).rejects.toMatchObject({ code: 'FLOW_FAILED' });
    expect((await store.load(session.sessionId))!.header).toMatchObject({ state: 'error' });
    expect(logged.find(({ event }) => event === 'flow.failed')?.where).toMatch(HERE);
  });

  it('of an event may refuse it, which fails nothing', async () => {
    const { deploy, store } = cluster();
    const sessions = deploy(async (ask) => ask.event('paid', z.string().min(3)));
    const { header } = await sessions.start({ ...me, tool: 'x' });
    await expect(sessions.deliver({ sessionId: header.id, event: 'paid', value: 'x' })).rejects.toMatchObject({
      code: 'FLOW_VALIDATION_FAILED',
    });
    expect((await store.load(header.id))!.header.state).toBe('active');
  });

  it('of a new version parks a session whose older answer makes it throw, and the version before continues it', async () => {
    const { deploy, store, logged, clock } = cluster();
    const first: Body = async (ask) => [await ask.text('a'), await ask.sleep('wait', '1h'), await ask.text('b')];
    const next: Body = async (ask) => [
      await ask.text('a', { validate: thrower }),
      await ask.sleep('wait', '1h'),
      await ask.text('b'),
    ];
    const options = { limits: { duration: '2d' as const } };
    const old = deploy(first, options);
    const { header } = await old.start({ ...me, tool: 'x' });
    await old.answer({ ...me, sessionId: header.id, answers: [{ value: 'x' }] });
    await old.close();
    const newer = deploy(next, options);
    clock.move(3_600_000);
    await newer.sweep();
    const parked = (await store.load(header.id))!.header.parked;
    expect(parked?.reason).toContain('validate of question a');
    expect(logged.find(({ event }) => event === 'flow.parked')?.where).toMatch(HERE);
    await newer.close();
    const again = deploy(first, options);
    clock.move(60_000);
    await again.sweep();
    const { header: now } = (await store.load(header.id))!;
    expect([now.state, now.parked]).toEqual(['waiting_user', undefined]);
  });
});

const results: [string, () => unknown][] = [
  ['a BigInt', () => ({ id: 7n })],
  ['a cycle', () => cycle],
  ['a toJSON that throws', () => ({ toJSON: thrower })],
  ['a getter that throws', () => Object.defineProperty({}, 'x', { enumerable: true, get: thrower })],
  ['a Map', () => ({ rows: new Map() })],
  ['a Set', () => new Set([1])],
  ['NaN', () => ({ sum: NaN })],
  ['a function', () => ({ go: thrower })],
  ['a symbol', () => Symbol('x')],
  ['a Date', () => ({ at: new Date(0) })],
  ['a proxy that throws', () => new Proxy({}, { ownKeys: thrower })],
];

describe('a result that is not JSON', () => {
  it.each(results)('fails the session once, and its effects are undone and not repeated: %s', async (_, make) => {
    let [done, undone] = [0, 0];
    const { turn, header, sessions, session, clock, logged } = await play(
      async (ask) => {
        await ask.text('a');
        await ask.step('pay', () => ++done, { effect: 'retry', undo: () => void undone++ });
        return make();
      },
      ['x'],
    );
    expect(turn.failure).toMatchObject({ name: 'FLOW_MISUSED' });
    expect(header).toMatchObject({ state: 'error' });
    for (let times = 0; times < 3; times++) {
      clock.move(LEASE_MS * 10);
      await sessions.sweep();
    }
    await expect(sessions.getState(session)).resolves.toMatchObject({ header: { state: 'error' } });
    expect([done, undone]).toEqual([1, 1]);
    expect(logged.filter(({ event }) => event === 'flow.failed')).toHaveLength(1);
    expect(logged.find(({ event }) => event === 'flow.failed')?.where).toMatch(HERE);
    expect(logged.filter(({ event }) => event === 'flow.broken')).toEqual([]);
  });

  it.each(results)('of a step is not tried again: %s', async (_, make) => {
    let done = 0;
    const { turn } = await play(async (ask) => {
      const work = () => [++done, make()][1];
      return ask.step('pay', work as () => number, { effect: 'retry', retry: { attempts: 3 } });
    });
    expect(turn.failure).toMatchObject({ name: 'FLOW_MISUSED' });
    expect(done).toBe(1);
  });

  it('may be nothing at all', async () => {
    const { turn } = await play(async () => undefined);
    expect(turn).toMatchObject({ result: undefined, header: { state: 'completed' } });
  });

  it('from an output schema that throws fails the session', async () => {
    const { turn } = await play(async () => ({ a: 1 }), [], { output: z.object({ a: z.number().refine(thrower) }) });
    expect(turn.failure).toMatchObject({ name: 'FLOW_MISUSED' });
  });
});

const shown: [string, (ask: Ask) => Promise<unknown>][] = [
  ['a BigInt as a choice', async (ask) => ask.choice('a', [7n as never])],
  ['a BigInt in a choice', async (ask) => ask.choice('a', [{ value: { id: 7n } }])],
  ['choices that are not a list', async (ask) => ask.choice('a', 7 as never)],
  ['a BigInt as a default', async (ask) => ask.custom('a', { default: { id: 7n } })],
  ['a Map as a default', async (ask) => ask.custom('a', { default: new Map() })],
  ['NaN as a default', async (ask) => ask.number('a', { default: NaN })],
  ['a message that is a number', async (ask) => ask.text('a', { message: 7 as never })],
  ['a label that is a number', async (ask) => ask.text('a', { label: 7 as never })],
  ['a field with a message that is a number', async (ask) => ask.form('a', { b: f.text({ message: 7 as never }) })],
  ['a note that is a BigInt', async (ask) => [ask.note(7n as never), await ask.text('a')]],
  ['progress of NaN', async (ask) => [ask.progress(NaN, 1n as never), await ask.text('a')]],
  ['a pattern that does not compile', async (ask) => ask.text('a', { pattern: '(' })],
  [
    'a getter that throws',
    async (ask) =>
      ask.text('a', {
        get message(): string {
          return thrower();
        },
      }),
  ],
];

describe('a question that cannot be shown', () => {
  it.each(shown)('fails the session, and its effects are undone and not repeated: %s', async (_, ask) => {
    let [done, undone] = [0, 0];
    const { turn, header, sessions, clock, logged } = await play(
      async (all) => {
        await all.text('first');
        await all.step('pay', () => ++done, { effect: 'retry', undo: () => void undone++ });
        return ask(all);
      },
      ['x'],
    );
    expect(turn.failure?.name).toMatch(/FLOW_MISUSED|TypeError/);
    expect(header.state).toBe('error');
    clock.move(LEASE_MS * 10);
    await sessions.sweep();
    expect([done, undone]).toEqual([1, 1]);
    expect(logged.find(({ event }) => event === 'flow.failed')?.where).toMatch(HERE);
  });
});

describe('an error of a step', () => {
  const unreadable = (name: string) => () => {
    throw Object.defineProperty(new Error('failed'), name, { get: thrower });
  };
  it.each(['data', 'message', 'name', 'stack', 'cause'])('whose %s cannot be read fails the session', async (name) => {
    const { turn, header } = await play(async (ask) => ask.step('a', unreadable(name)));
    expect(turn.failure).toBeDefined();
    expect(header.state).toBe('error');
  });

  it.each([undefined, null, 7n, Symbol('x'), Object.create(null) as object, cycle])(
    'may be anything: %s',
    async (thrown) => {
      const { turn } = await play(async (ask) =>
        ask.step('a', () => {
          throw thrown;
        }),
      );
      expect(turn.failure).toMatchObject({ name: 'Error' });
    },
  );

  it('is the outcome if retry.on throws, and the log has its line', async () => {
    let tries = 0;
    const { turn, logged } = await play(async (ask) =>
      ask.step(
        'a',
        () => {
          tries++;
          throw new Error('no room');
        },
        { retry: { attempts: 5, on: thrower } },
      ),
    );
    expect(turn.failure).toMatchObject({ message: 'no room' });
    expect(tries).toBe(1);
    expect(logged.find(({ event }) => event === 'flow.misused')?.where).toMatch(HERE);
  });

  it('is the outcome if retry.on is asynchronous', async () => {
    const { turn } = await play(async (ask) =>
      ask.step('a', thrower, { retry: { attempts: 5, on: rejecter as never } }),
    );
    expect(turn.failure).toMatchObject({ name: 'TypeError' });
  });
});

describe('an undo or a check that throws', () => {
  it('is tried again, and reported with its line', async () => {
    const { deploy, logged, clock } = cluster();
    const sessions = deploy(async (ask) => {
      await ask.step('pay', () => 1, { effect: 'retry', undo: thrower });
      return ask.text('a');
    });
    const { header } = await settled(await sessions.start({ ...me, tool: 'x' }));
    await sessions.cancel({ ...me, sessionId: header.id });
    await until('the log', () => logged.some(({ event }) => event === 'flow.undo-failed'));
    expect(logged.find(({ event }) => event === 'flow.undo-failed')?.where).toMatch(HERE);
    clock.move(1000);
    await until('the log', () => logged.filter(({ event }) => event === 'flow.undo-failed').length > 1);
    await sessions.close();
  });
});

describe('a listener that throws', () => {
  it.each([thrower, rejecter])('changes nothing for the session', async (listener) => {
    const { deploy, logged } = cluster();
    const sessions = deploy(async (ask) => [await ask.step('a', (step) => step.progress(1)), await ask.text('b')]);
    sessions.on(listener);
    const turn = await settled(await sessions.start({ ...me, tool: 'x' }));
    const done = await sessions.answer({ ...me, sessionId: turn.header.id, answers: [{ value: 'x' }] });
    expect(done.result).toEqual([null, 'x']);
    await until('the log', () =>
      logged.some(({ event, where }) => event === 'flow.listener-failed' && HERE.test(where ?? '')),
    );
  });
});

describe('a revoked proxy', () => {
  const thrown = (): Error => {
    const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
    revoke();
    return proxy;
  };

  it.each<[string, Body]>([
    ['a body', () => Promise.reject(thrown())],
    ['a step', (ask) => ask.step('s', () => Promise.reject(thrown()))],
  ])('that is thrown by %s fails its session', async (_, body) => {
    const { deploy } = cluster();
    const { failure } = await settled(await deploy(body).start({ ...me, tool: 'x' }));
    expect(failure?.message).toContain('cannot be read');
  });
});
