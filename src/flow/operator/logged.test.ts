// The log lines that an operator acts on.
import { expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import type { SessionOptions } from '../session/context/session-context.ts';
import { afterSteps } from '../session/turn/turn.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { until } from '../../../tests/helpers/until.ts';
import { findSession } from './find-sessions.ts';

const me = { principal: 'me' };
type Body = (ask: Ask) => Promise<unknown>;

async function begun(body: Body, options: SessionOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const clock = manualClock();
  const store = memoryStore({ clock });
  const deploy = (next: Body) =>
    new Sessions([flow({ name: 'x' }, next)], {
      store,
      clock,
      log,
      limits: { undoAttempts: 1, resultBytes: 1000 },
      ...options,
    });
  const sessions = deploy(body);
  const { header } = await afterSteps(await sessions.start({ ...me, tool: 'x' }));
  /** The session that an operator finds with what the line says. */
  const namedBy = async (event: string) => {
    const line = await until(event, () => lines.find((one) => one['event'] === event));
    expect(JSON.stringify(line)).not.toContain(header.id);
    const found = await findSession(store, String(line['session']));
    return 'header' in found ? found.header.id : line;
  };
  return { sessions, deploy, sessionId: header.id, namedBy };
}

const paid =
  (key: 'charge' | 'charge-card', undo?: () => void): Body =>
  async (ask) => {
    await ask.step(key, () => 'paid', { effect: 'retry', ...(undo && { undo }) });
    if ((await ask.text('note')) === 'bad') throw new Error('Not that');
  };

it('the log names a parked session as `parley flows` finds it', async () => {
  const { deploy, sessionId, namedBy } = await begun(paid('charge'));
  const answers = [{ value: 'x' }];
  await expect(deploy(paid('charge-card')).answer({ ...me, sessionId, answers })).rejects.toThrow('charge-card');
  expect(await namedBy('flow.parked')).toBe(sessionId);
});

it('the log names a failed session as `parley flows` finds it', async () => {
  const { sessions, sessionId, namedBy } = await begun(paid('charge'));
  await sessions.answer({ ...me, sessionId, answers: [{ value: 'bad' }] });
  expect(await namedBy('flow.failed')).toBe(sessionId);
});

it('the log names a session whose effects could not be undone', async () => {
  const undo = () => {
    throw new Error('away');
  };
  const { sessions, sessionId, namedBy } = await begun(paid('charge', undo));
  await sessions.cancel({ ...me, sessionId });
  expect(await namedBy('flow.undo-failed')).toBe(sessionId);
  expect(await namedBy('flow.not-undone')).toBe(sessionId);
});

it('the log names a session whose person could not be notified', async () => {
  const notify = () => {
    throw new Error('no such mailbox');
  };
  const { sessions, sessionId, namedBy } = await begun((ask) => ask.person('lead').confirm('ok'), { notify });
  await sessions.sweep();
  expect(await namedBy('flow.person-not-told')).toBe(sessionId);
});

it('the log names a session whose result is too large to keep', async () => {
  const { sessions, sessionId, namedBy } = await begun(async (ask) => (await ask.text('note')).repeat(2000));
  await sessions.answer({ ...me, sessionId, answers: [{ value: 'x' }] });
  expect(await namedBy('flow.result-not-kept')).toBe(sessionId);
});
