import { describe, expect, it } from 'vitest';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import type { ChangedSession, FlowStore } from '../store/store.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from './sessions.ts';
import { waitForTurn } from './verbs/session-watch.ts';

const patient = flow({ name: 'patient' }, async (ask) => ask.text('name', { message: 'Name?' }));

/** Two processes on one store, which says in the second what the test makes it say. */
function twoProcesses() {
  const clock = manualClock();
  const store = Object.assign(memoryStore({ clock }), { durable: true, nextDue: undefined });
  const listeners = new Set<(changed: ChangedSession) => void>();
  const onChange = (listener: (changed: ChangedSession) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const first = new Sessions([patient], { clock, store });
  const second = new Sessions([patient], { clock, store: toListening(store, onChange) });
  const tell = (changed: ChangedSession) => listeners.forEach((listener) => listener(changed));
  const settled = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, first, second, tell, settled, listeners };
}

/** The store as the second process has it. */
function toListening(store: FlowStore, onChange: FlowStore['onChange']): FlowStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'onChange') return onChange;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('a wake-up by the store', () => {
  it.each([
    ['ends a session in time whose process is gone', true],
    ['that does not come leaves the session to the next poll', false],
  ])('%s', async (_, comes) => {
    const { clock, first, second, tell, settled } = twoProcesses();
    let expired = 0;
    second.on(({ kind }) => void (kind === 'expired' && expired++));
    const { header } = await first.start({ principal: 'ada', tool: 'patient', timeoutMs: 1000 });
    await first.close();
    if (comes) tell({ id: header.id, dueAt: clock.now() + 1000 });
    clock.move(1001);
    await settled();
    expect(expired).toBe(comes ? 1 : 0);
    clock.move(5000);
    await settled();
    expect(expired).toBe(1);
    await second.close();
  });

  it('continues a call whose session was answered in another process, without the time of a poll', async () => {
    const { first, second, tell, listeners } = twoProcesses();
    const { header, questions } = await second.start({ principal: 'ada', tool: 'patient' });
    const moved = waitForTurn(second, header);
    const answers = [{ promptId: questions[0]!.promptId, value: 'Ada' }];
    await first.answer({ principal: 'ada', sessionId: header.id, answers });
    tell({ id: 'session_other' });
    tell({ id: header.id });
    expect((await moved).header.state).toBe('completed');
    await first.close();
    await second.close();
    expect(listeners.size).toBe(0);
  });
});
