// The table of states, and what the owner of a session may do for its tool. What real sessions do is in state-matrix.test.ts.
import { describe, expect, it } from 'vitest';
import { flow } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { ERRORS } from '../../kernel/base/error-table.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { Sessions } from './sessions.ts';
import { TRANSITIONS, transition } from '../../mcp/flow/flow-states.ts';
import type { FlowState, StateEvent } from '../../mcp/flow/flow-states.ts';

const me = { principal: 'me' };
const EVENTS: StateEvent[] = ['begin', 'prompt', 'respond', 'reject', 'complete', 'cancel', 'fail', 'expire'];

let hung = 0;
const tool = flow({ name: 'x' }, async (ask) => {
  if (await ask.confirm('slow')) await ask.step('hang', () => new Promise(() => void hung++), { effect: 'retry' });
  return ask.number('n');
});
const hanging = flow({ name: 'hanging', firstQuestion: '10s' }, async (ask) => {
  await ask.step('hang', () => new Promise(() => {}), { effect: 'retry' });
});
const broken = flow({ name: 'broken' }, async (ask) => {
  await ask.text('a');
  throw new Error('broken');
});

interface Subject {
  sessions: Sessions;
  clock: ReturnType<typeof manualClock>;
  session: { principal: string; sessionId: string };
}

/** A session in each state that one can be seen in. */
const IN: Record<Exclude<FlowState, 'idle'> | 'expired', () => Promise<Subject>> = {
  active: () => begun('hanging'),
  waiting_user: () => begun('x'),
  processing: async () => after(await begun('x'), ({ sessions, session }) => answer(sessions, session, true)),
  completed: async () =>
    after(await begun('x'), async ({ sessions, session }) => {
      await answer(sessions, session, false);
      await answer(sessions, session, 1);
    }),
  cancelled: async () => after(await begun('x'), ({ sessions, session }) => sessions.cancel(session)),
  error: async () => after(await begun('broken'), ({ sessions, session }) => answer(sessions, session, 'x')),
  expired: async () =>
    after(await begun('x'), async ({ sessions, clock }) => {
      clock.move(300_001);
      await sessions.sweep();
    }),
};

describe('the table', () => {
  it.each(Object.keys(TRANSITIONS) as FlowState[])(
    'has a state or an error for every event that can come to %s',
    (state) => {
      for (const event of EVENTS) {
        const reaction = TRANSITIONS[state][event];
        if (reaction === undefined) {
          expect(() => transition({ id: 's', state }, event)).toThrow(/cannot/);
        } else expect(reaction in TRANSITIONS || reaction in ERRORS).toBe(true);
      }
    },
  );

  it('lets nothing out of an end', () => {
    for (const state of ['completed', 'cancelled', 'error'] as const) {
      for (const event of EVENTS) expect(() => transition({ id: 's', state }, event)).toThrow(GatewayError);
    }
  });
});

describe('the owner', () => {
  it('continues for the tool while it works, and ends it', async () => {
    const { sessions, session } = await IN.processing();
    const before = hung;
    const prompt = { type: 'text', message: 'Next step...' } as const;
    const asked = await sessions.continueByOwner({ ...session, prompt, progress: { current: 3, total: 5 } });
    expect(asked).toMatchObject({
      header: { state: 'waiting_user' },
      questions: [{ prompt, progress: { current: 3 } }],
    });
    expect((await answer(sessions, session, 'x')).header.state).toBe('processing');
    expect(hung).toBe(before);
    const ended = await sessions.completeByOwner({ ...session, result: { a: 1 } });
    expect(ended).toMatchObject({ header: { state: 'completed' }, result: { a: 1 } });
  });

  it.each(Object.keys(IN).filter((state) => state !== 'processing') as (keyof typeof IN)[])(
    'may do neither when it is %s',
    async (state) => {
      const { sessions, session } = await IN[state]();
      await expect(sessions.continueByOwner(session)).rejects.toThrow(GatewayError);
      await expect(sessions.completeByOwner({ ...session, result: {} })).rejects.toThrow(GatewayError);
    },
  );
});

it('a tool that never comes to its first question fails', async () => {
  const clock = manualClock();
  const sessions = new Sessions([hanging], { clock, log: createLog({ level: 'silent' }) });
  const turn = await sessions.start({ ...me, tool: 'hanging' });
  expect(turn.header.state).toBe('active');
  clock.move(10_001);
  expect(await turn.next).toMatchObject({
    header: { state: 'error', reason: 'timeout' },
    failure: { name: 'FLOW_TIMEOUT' },
  });
});

async function begun(name: string): Promise<Subject> {
  const clock = manualClock();
  const log = createLog({ level: 'silent' });
  const sessions = new Sessions([tool, hanging, broken], { clock, log });
  const { header } = await sessions.start({ ...me, tool: name });
  return { sessions, clock, session: { ...me, sessionId: header.id } };
}

async function after(subject: Subject, act: (subject: Subject) => Promise<unknown>): Promise<Subject> {
  await act(subject);
  return subject;
}

function answer(sessions: Sessions, session: Subject['session'], value: unknown) {
  return sessions.answer({ ...session, answers: [{ value }] });
}
