import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../mcp/eras/fake-context.contract.ts';
import { createLog } from '../../kernel/base/log.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Nodes } from '../../kernel/nodes/nodes.ts';
import { MemoryState } from '../../kernel/state/memory-state.ts';
import type { State } from '../../kernel/state/state.ts';
import { toSections } from '../page/render/sections.ts';
import type { QuestionRound } from '../question-round.ts';
import { SharedRounds } from './shared-rounds.ts';

const log = createLog({ level: 'silent' });
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function world() {
  const clock = new FakeClock();
  const alive = new Set<string>();
  const state = new MemoryState(clock, { isShared: true });
  const node = (self: string, rounds: QuestionRound[] = [], at: State = state) => {
    alive.add(self);
    const ownerOf = (id: string): string | undefined =>
      [...alive].find((one) => one !== self && id.endsWith(`.${one}`));
    const nodes = { self, ownerOf } as unknown as Nodes;
    return new SharedRounds({ state: at, nodes, clock, log, own: () => rounds });
  };
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
    await turn();
  };
  return { clock, state, node, pass, die: (self: string) => alive.delete(self) };
}

const BOOLEAN = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };

function round(handle: string, message = 'May it?', expiresAt = 1e15): QuestionRound {
  const ask = { method: 'elicitation/create', human: true, params: { message, requestedSchema: BOOLEAN } };
  const about = { tool: 'pay', server: undefined, client: 'c' };
  const open = { isOpen: true, answer: () => true };
  return { handle, principal: 'ada', user: 'ada', about, questions: [{ key: 'q', ask }], expiresAt, ...open };
}

const handlesOf = async (shared: SharedRounds): Promise<string[]> =>
  (await shared.elsewhere()).map(({ handle }) => handle);

describe('open rounds of several gateways', () => {
  it('open rounds are shown at other gateways as they are, until they have ended', async () => {
    const { node, pass } = world();
    const rounds = [round('x.a')];
    const [a, b] = [node('a', rounds), node('b')];
    a.touch();
    await pass(200);
    const [shown] = await b.elsewhere();
    expect(shown).toMatchObject({ handle: 'x.a', user: 'ada', about: { tool: 'pay' } });
    expect(toSections(shown!)).toMatchObject([{ message: 'May it?', isConfirm: true, isWhole: true }]);
    expect(await a.elsewhere()).toEqual([]);
    rounds.pop();
    a.touch();
    await pass(1000);
    expect(await b.elsewhere()).toEqual([]);
  });

  it('open rounds are left out once their gateway is gone or hangs, and once their time is over', async () => {
    const { clock, node, pass, die } = world();
    const [a, c] = [node('a', [round('x.a')]), node('c', [round('y.c', 'May it?', clock.now() + 3000)])];
    const b = node('b');
    a.touch();
    c.touch();
    await pass(200);
    expect(await handlesOf(b)).toEqual(['x.a', 'y.c']);
    await pass(4000);
    expect(await handlesOf(b)).toEqual(['x.a']);
    die('a');
    expect(await handlesOf(b)).toEqual([]);
  });

  it('open rounds that are too large to be shown whole cannot be agreed to elsewhere than on their own page', async () => {
    const { node, pass } = world();
    const rounds = Array.from({ length: 40 }, (_, n) => round(`${n}.a`, 'x'.repeat(20_000)));
    const [a, b] = [node('a', [round('large.a', 'x'.repeat(40_000)), ...rounds]), node('b')];
    a.touch();
    await pass(200);
    const shown = await b.elsewhere();
    expect(shown).toHaveLength(41);
    const sections = shown.map((one) => toSections(one)[0]!);
    expect(sections[0]).toMatchObject({ isConfirm: false, fields: [] });
    expect(sections.filter(({ message }) => message.length === 20_000)).toHaveLength(25);
    expect(sections.filter(({ isConfirm }) => isConfirm)).toHaveLength(25);
    expect(shown.every(({ questions }) => questions.some(({ ask }) => ask.human === true))).toBe(true);
  });

  it('open rounds of others are not shown while the store does not answer, and nobody fails', async () => {
    const { node, state } = world();
    const away = (): Promise<never> => Promise.reject(new GatewayError('STATE_FAILED', { what: 'state' }));
    const broken = new Proxy(state, { get: (on, name) => (name === 'list' ? away : Reflect.get(on, name)) as unknown });
    expect(await node('b', [], broken).elsewhere()).toEqual([]);
  });
});
