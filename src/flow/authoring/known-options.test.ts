import { describe, expect, it } from 'vitest';
import { createServer } from '../../sdk/server/create-server.ts';
import { createLog } from '../../kernel/base/log.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import { serveFlows } from '../wire/serve-flows.ts';
import type { Ask } from './ask.ts';
import { f } from './fields.ts';

const log = createLog({ level: 'silent' });

async function play(body: (ask: Ask) => Promise<unknown>) {
  const sessions = new Sessions([flow({ name: 'x' }, body)], { log });
  const turn = await settled(await sessions.start({ principal: 'me', tool: 'x' }));
  await sessions.close();
  return turn;
}

/** As JavaScript would be written. */
const odd = (options: object) => options as never;

describe('an option that nobody knows', () => {
  it.each<[string, string, (ask: Ask) => Promise<unknown>]>([
    ['text', 'secert', (ask) => ask.text('pw', odd({ message: 'Password?', secert: true }))],
    ['number', 'pattern', (ask) => ask.number('n', odd({ pattern: 'x' }))],
    ['confirm', 'By', (ask) => ask.confirm('ok', odd({ By: 'human' }))],
    ['date', 'integer', (ask) => ask.date('d', odd({ integer: true }))],
    ['choice', 'defualt', (ask) => ask.choice('c', ['a'], odd({ defualt: 'a' }))],
    ['choices', 'minimum', (ask) => ask.choices('cs', ['a'], odd({ minimum: 1 }))],
    ['file', 'secret', (ask) => ask.file('f', odd({ secret: true }))],
    ['custom', 'timout', (ask) => ask.custom('u', odd({ timout: '5m' }))],
    ['form', 'alon', (ask) => ask.form('w', { a: f.text() }, odd({ alon: true }))],
    ['step', 'efect', (ask) => ask.step('s', () => 1, odd({ efect: 'once' }))],
    ['a field', 'patern', async () => f.text(odd({ patern: 'x' }))],
  ])('is refused before anything is asked or done: %s', async (_, name, body) => {
    const { failure, questions } = await play(body);
    expect(questions).toEqual([]);
    expect(failure).toMatchObject({ name: 'FLOW_MISUSED', message: expect.stringContaining(`${name} as an option`) });
  });

  it.each<[string, string, (ask: Ask) => Promise<unknown>]>([
    ['by', "by: 'humans'; it takes 'human'", (ask) => ask.confirm('ok', odd({ by: 'humans' }))],
    ['onTimeout', "onTimeout: 'throw'", (ask) => ask.text('t', odd({ onTimeout: 'throw' }))],
    ['onCancel', 'onCancel: a boolean', (ask) => ask.text('t', odd({ onCancel: true }))],
    ['effect', "effect: 'onec'; it takes 'retry' or 'once'", (ask) => ask.step('s', () => 1, odd({ effect: 'onec' }))],
    ['handOver', 'handOver that is not a list', (ask) => ask.person('a', odd({ handOver: 'cto' })).text('t')],
  ])('is refused with a value that it does not take: %s', async (_, reason, body) => {
    const { failure, questions } = await play(body);
    expect(questions).toEqual([]);
    expect(failure).toMatchObject({ name: 'FLOW_MISUSED', message: expect.stringContaining(reason) });
  });

  it('is refused by flow() and serveFlows()', () => {
    expect(() => flow(odd({ name: 'x', descripton: 'y' }), async () => 1)).toThrow('descripton as an option of flow()');
    const server = createServer({ name: 'x', version: '1', log });
    expect(() => serveFlows(server, [], odd({ explore: false }))).toThrow('explore as an option of serveFlows()');
  });

  it('is refused like a key that is too short to be one', () => {
    const server = createServer({ name: 'x', version: '1', log });
    expect(() => serveFlows(server, [], { keys: ['long enough to be a key', 'short'] })).toThrow('16 characters');
  });

  it('is not one that every question has', async () => {
    const { questions } = await play((ask) =>
      ask.text('a', {
        message: 'A?',
        label: 'A',
        help: '',
        placeholder: '',
        required: false,
        alone: true,
        timeout: '5m',
      }),
    );
    expect(questions).toHaveLength(1);
  });
});

describe('an option that would do nothing', () => {
  it.each<[string, object]>([
    ['undo', { undo: () => {} }],
    ['check', { check: () => 1 }],
    ['undo and check', { undo: () => {}, check: () => undefined }],
  ])('is refused before the step is run: %s without effect', async (names, options) => {
    let runs = 0;
    const { failure } = await play((ask) => ask.step('reserve', () => void (runs += 1), odd(options)));
    expect(runs).toBe(0);
    expect(failure?.name).toBe('FLOW_MISUSED');
    expect(failure?.message).toContain(`${names.split(' ')[0]} for ask.step('reserve')`);
    expect(failure?.message).toContain("effect: 'retry'");
  });
});
