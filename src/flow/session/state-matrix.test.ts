// Every state with every event, each on a real session: what follows, or the code that it is refused with. The table is the design's,
// written out once more, so that it can differ from what the program believes. A refusal leaves all as it was.
import { describe, expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import type { StepContext } from '../authoring/step.ts';
import { flow } from '../define.ts';
import type { AnyFlow } from '../define.ts';
import type { FlowState } from '../../mcp/flow/flow-states.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';
import type { Turn } from './turn/turn.ts';

/** `none` is a session that never was, `expired` an error with a reason of its own. */
const TABLE = `
event          | none   | idle         | active       | waiting_user | processing   | completed | cancelled | error  | expired
respond        | -32001 | -32003       | -32003       | processing   | -32003       | -32003    | -32006    | -32003 | -32002
reject         | -32001 | -32003       | -32003       | waiting_user | -32003       | -32003    | -32006    | -32003 | -32002
answer again   | -32001 | -32003       | -32003       | waiting_user | processing   | -32003    | -32006    | error  | -32002
answer late    | -32001 | -32003       | -32003       | -32003       | -32003       | -32003    | -32006    | -32003 | -32002
cancel         | -32001 | cancelled    | cancelled    | cancelled    | cancelled    | -32003    | -32006    | -32003 | -32002
getState       | -32001 | idle         | active       | waiting_user | processing   | completed | cancelled | error  | -32002
continue       | -32001 | -32003       | -32003       | -32003       | processing   | -32003    | -32006    | -32003 | -32002
continue, asks | -32001 | -32003       | -32003       | -32003       | waiting_user | -32003    | -32006    | -32003 | -32002
complete       | -32001 | -32003       | -32003       | -32003       | completed    | -32003    | -32006    | -32003 | -32002
back           | -32001 | -32003       | -32003       | waiting_user | -32003       | -32003    | -32006    | -32003 | -32002
edit           | -32001 | -32003       | -32003       | processing   | -32003       | -32003    | -32006    | -32003 | -32002
extend         | -32001 | -32003       | -32003       | waiting_user | -32003       | -32003    | -32006    | -32003 | -32002
begin          | -32001 | active       | active       | waiting_user | processing   | completed | cancelled | error  | -32002
tool asks      | -32001 | idle         | waiting_user | waiting_user | waiting_user | completed | cancelled | error  | -32002
tool ends      | -32001 | idle         | completed    | waiting_user | completed    | completed | cancelled | error  | -32002
tool fails     | -32001 | idle         | error        | waiting_user | error        | completed | cancelled | error  | -32002
warning        | -32001 | active       | active       | waiting_user | processing   | completed | cancelled | error  | -32002
expire         | -32001 | -32002       | -32002       | -32002       | -32002       | completed | cancelled | error  | -32002
a stranger     | -32001 | -32001       | -32001       | -32001       | -32001       | -32001    | -32001    | -32001 | -32001
`;

type Work = 'asks' | 'ends' | 'fails';

const DURATION_MS = 10 * 60_000;

class Subject {
  readonly clock = manualClock();
  readonly store = memoryStore({ clock: this.clock });
  readonly log = createLog({ level: 'silent' });
  /** What the tool does when its work is done. */
  work: ((outcome: Work) => void)[] = [];
  readonly flows: AnyFlow[];
  /** So many bodies wait in memory. */
  readonly warm: number;
  sessions: Sessions;
  session = { principal: 'me', sessionId: `session_${'A'.repeat(22)}` };
  turn: Turn | undefined;

  constructor(warm: number) {
    this.warm = warm;
    // An effect in flight is waited for when its session ends: this one stops when it is told to.
    const hang = ({ signal }: StepContext) =>
      new Promise<Work>((resolve) => {
        this.work.push(resolve);
        signal.addEventListener('abort', () => resolve('asks'), { once: true });
      });
    const tool = (name: string, isEarly: boolean) =>
      flow({ name, limits: { duration: `${DURATION_MS}ms` } }, async (ask) => {
        if (!isEarly) await ask.text('first', { alone: true });
        for (;;) {
          // One whose process has died is looked for before it is taken back, and has not happened.
          const undoing = { undo: () => {}, check: () => undefined };
          const done = await ask.step('work', hang, { effect: 'retry', ...undoing });
          if (done === 'ends') return 'ended';
          if (done === 'fails') throw new Error('failed');
          await ask.confirm('ok', { alone: true });
        }
      });
    this.flows = [tool('early', true), tool('late', false)];
    this.sessions = this.process();
  }

  process(): Sessions {
    const limits = { tombstoneMs: 2 * DURATION_MS, stepMs: 2 * DURATION_MS, firstQuestionMs: 2 * DURATION_MS };
    const { clock, store, log, warm } = this;
    return new Sessions(this.flows, { clock, store, log, warm, limits });
  }

  async start(name: string): Promise<this> {
    this.turn = await this.sessions.start({ principal: 'me', tool: name });
    this.session.sessionId = this.turn.header.id;
    return this;
  }

  async answer(value: unknown, promptId?: string): Promise<unknown> {
    this.turn = await this.sessions.answer({ ...this.session, answers: [{ value, ...(promptId && { promptId }) }] });
    return this.turn;
  }

  /** The tool has done its work, if it is at any. */
  async done(outcome: Work): Promise<void> {
    for (const resolve of this.work.splice(0)) resolve(outcome);
    if (this.turn) this.turn = await settled(this.turn);
  }

  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    await this.sessions.sweep();
  }

  async working(): Promise<this> {
    await (await this.start('late')).answer('x', 'first~1');
    return this;
  }
}

const IN: Record<string, (warm: number) => Promise<Subject>> = {
  none: async (warm) => new Subject(warm),
  /** Its process has died between making it and beginning with it; this is another one. */
  idle: async (warm) => {
    const subject = await new Subject(warm).start('early');
    await subject.sessions.close();
    await subject.store.commit(subject.session.sessionId, 0, {
      patch: { state: 'idle' },
      dueAt: subject.clock.now() + 1,
    });
    subject.sessions = subject.process();
    subject.work = [];
    return subject;
  },
  active: (warm) => new Subject(warm).start('early'),
  waiting_user: (warm) => after(warm, (subject) => subject.done('asks')),
  processing: (warm) => new Subject(warm).working(),
  completed: (warm) => after(warm, ({ sessions, session }) => sessions.completeByOwner({ ...session, result: {} })),
  cancelled: (warm) => after(warm, ({ sessions, session }) => sessions.cancel(session)),
  error: (warm) => after(warm, (subject) => subject.done('fails')),
  expired: (warm) =>
    after(warm, async (subject) => {
      await subject.pass(DURATION_MS + 1);
      await until(
        'it to be wiped',
        async () => (await subject.store.load(subject.session.sessionId))?.entries.length === 0,
      );
    }),
};

const prompt = { type: 'text', message: 'Of the owner' } as const;
const DO: Record<string, (subject: Subject) => Promise<unknown>> = {
  respond: (subject) => subject.answer(true),
  reject: (subject) => subject.answer('neither'),
  'answer again': (subject) => subject.answer('x', 'first~1'),
  'answer late': (subject) => subject.answer('another', 'first~1'),
  cancel: ({ sessions, session }) => sessions.cancel(session),
  getState: async () => {},
  continue: ({ sessions, session }) => sessions.continueByOwner(session),
  'continue, asks': ({ sessions, session }) => sessions.continueByOwner({ ...session, prompt }),
  complete: ({ sessions, session }) => sessions.completeByOwner({ ...session, result: {} }),
  back: ({ sessions, session }) => sessions.back(session),
  edit: ({ sessions, session }) => sessions.edit({ ...session, key: 'first', value: 'y' }),
  extend: ({ sessions, session }) => sessions.extend(session),
  /** The sweeper takes over a session that no process holds. */
  begin: (subject) => subject.pass(1),
  'tool asks': (subject) => subject.done('asks'),
  'tool ends': (subject) => subject.done('ends'),
  'tool fails': (subject) => subject.done('fails'),
  warning: (subject) => subject.pass(4.5 * 60_000 + 1),
  expire: (subject) => subject.pass(DURATION_MS + 1),
  'a stranger': ({ sessions, session }) => sessions.cancel({ ...session, principal: 'stranger' }),
};

const [head, ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));
const CELLS = rows.flatMap(([event, ...cells]) =>
  cells.map((expected, at) => ({ event: event!, state: head![at + 1]!, expected })),
);

describe('each state with each event', () => {
  it('is in the table, with all seven states', () => {
    const states: FlowState[] = ['idle', 'active', 'waiting_user', 'processing', 'completed', 'cancelled', 'error'];
    expect(Object.keys(IN).sort()).toEqual([...states, 'none', 'expired'].sort());
    expect(CELLS).toHaveLength(Object.keys(IN).length * Object.keys(DO).length);
  });

  const both = CELLS.flatMap((cell) => [
    { ...cell, warm: 0 },
    { ...cell, warm: 10 },
  ]);
  it.each(both)('$state, $event: $expected ($warm bodies in memory)', async ({ state, event, expected, warm }) => {
    const subject = await IN[state]!(warm);
    const before = await recorded(subject);
    expect(await outcome(subject, DO[event]!)).toBe(expected);
    if (expected.startsWith('-') && event !== 'expire') expect(await recorded(subject)).toEqual(before);
    await subject.sessions.close();
  });
});

/** The state that it is in afterwards, or the code. */
async function outcome(subject: Subject, event: (subject: Subject) => Promise<unknown>): Promise<string> {
  try {
    await event(subject);
    return (await subject.sessions.getState(subject.session)).header.state;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return String(thrown.row.code);
  }
}

function recorded({ store, session }: Subject): Promise<unknown> {
  return store.load(session.sessionId);
}

async function after(warm: number, act: (subject: Subject) => Promise<unknown>): Promise<Subject> {
  const subject = await new Subject(warm).working();
  await act(subject);
  return subject;
}
