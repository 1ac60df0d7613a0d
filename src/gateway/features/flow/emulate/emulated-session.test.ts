import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock, settled } from '../../../../kernel/fake-exchange.contract.ts';
import { checkQuestions } from '../../../../kernel/containers/open-questions.contract.ts';
import type { SessionMessage } from '../../../servers/flow/upstream-flow-sessions.ts';
import { UnacknowledgedOutcomes } from './unacknowledged-outcomes.ts';
import { EmulatedSession } from './emulated-session.ts';

const question = { method: 'elicitation/create', params: { message: 'Sure?' } };
const timeoutMs = 60_000;

function setUp() {
  const clock = new FakeClock();
  const told: string[] = [];
  const tell = ({ method }: SessionMessage) => void told.push(method);
  const about = {
    id: 's',
    tool: 't',
    principal: 'ada',
    caller: 'ada',
    timeoutMs,
    outcomes: new UnacknowledgedOutcomes(),
  };
  const idle = { warn: () => {}, onEnd: () => {}, withdrawn: (promptId: string) => void told.push(`not ${promptId}`) };
  const call = new EmulatedSession({ ...about, ...idle, clock, tell, expired: () => void told.push('expired') });
  return { clock, told, call };
}

checkQuestions('as prompts of MCP Flow', () => {
  const { call } = setUp();
  return {
    ask: (ask, signal) => call.ask(ask, signal),
    async shown() {
      await settled();
      const { currentPrompt: prompt } = call.view() as { currentPrompt?: { promptId: string; message: string } };
      return prompt ? [{ key: prompt.promptId, message: prompt.message }] : [];
    },
    answer(promptId, action) {
      try {
        call.respond(action === 'accept' ? { value: true } : { action }, { promptId });
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching('^FLOW_') as string });
      }
    },
    end: () => call.cancel(new Error('over')),
  };
});

describe('an ended call', () => {
  it('leaves no question open', async () => {
    const { call, told } = setUp();
    const asked = [call.ask(question), call.ask(question)].map((answer) =>
      expect(answer).rejects.toMatchObject({ code: 'CANCELLED' }),
    );
    await settled();
    call.complete({ success: true }, undefined);
    await Promise.all(asked);
    expect(told).toEqual(['interaction.prompt', 'interaction.complete']);
  });

  it('asks nothing more', async () => {
    const { call, told, clock } = setUp();
    call.complete({ success: true }, undefined);
    await expect(call.ask(question)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(call.view()).toMatchObject({ state: 'completed' });
    expect(told).toEqual(['interaction.complete']);
    expect(clock.timers).toBe(0);
  });

  it('sets no timer when its client extends it', () => {
    const { call, clock } = setUp();
    call.complete({ success: true }, undefined);
    expect(call.handle('interaction.extend', {})).toMatchObject({ extended: true });
    expect(clock.timers).toBe(0);
  });
});

it.each(['completed', 'cancelled', 'error'])(
  'a session that is remembered as %s does not keep its call',
  async (how) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { call, clock } = setUp();
    const kept = [toListener(call.signal)];
    const asked = call.ask(question).catch(() => {});
    await settled();
    if (how === 'completed') call.complete({ success: true }, undefined);
    else if (how === 'cancelled') call.cancel(new Error('over'));
    else await clock.advance(timeoutMs);
    await asked;
    expect(call.hasEnded).toBe(true);
    await vi.waitFor(() => {
      collect();
      expect(kept.filter((one) => one.deref())).toEqual([]);
    });
  },
);

/** What listens for the end of the call, as each part of it does. */
function toListener(signal: AbortSignal): WeakRef<object> {
  const listener = (): void => {};
  signal.addEventListener('abort', listener);
  return new WeakRef(listener);
}

describe('a withdrawn question', () => {
  it('a withdrawn question can no longer be answered, and its client is notified', async () => {
    const { call, clock, told } = setUp();
    const controller = new AbortController();
    const asked = expect(call.ask(question, controller.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
    await settled();
    controller.abort();
    await asked;
    expect(call.view()).toMatchObject({ state: 'processing' });
    expect(told).toEqual(['interaction.prompt', 'not answer~1']);
    const respond = () => call.respond({ value: true }, {});
    expect(respond).toThrow(expect.objectContaining({ code: 'FLOW_INVALID_TRANSITION' }));
    await clock.advance(timeoutMs);
    expect(call.hasEnded).toBe(false);
  });
});
