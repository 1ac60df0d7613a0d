// The store that docs/cli.md shows: three sessions of a flow in different states.
import { join } from 'node:path';
import { createSqliteStore } from '../../src/flow/store/sqlite/sqlite.ts';
import { flow } from '../../src/flow/define.ts';
import { Sessions } from '../../src/flow/session/sessions.ts';
import { settled } from '../../src/flow/session/turn/turn.ts';
import { createLog } from '../../src/kernel/base/log.ts';
import { systemClock } from '../../src/kernel/base/clock.ts';
import type { Home } from './parley.ts';

const MINUTE = 60_000;

/** The code that is deployed next, and the code before. */
const toCode = (key: string) => `import { flow } from 'mcp-parley/flow';

export const pay = flow({ name: 'pay', timeout: '1d', limits: { duration: '7d' } }, async (ask) => {
  const sum = await ask.number('sum', { message: 'How much?', min: 1 });
  await ask.step('${key}', (step) => ({ receipt: 'R-17' }), { effect: 'retry', undo: () => {} });
  return ask.text('note', { message: 'A note for the receipt?' });
});
`;

export async function writeDocStore(home: Home): Promise<void> {
  home.write('pay.mjs', toCode('charge-card'));
  const served = flow({ name: 'pay', timeout: '1d', limits: { duration: '7d' } }, async (ask) => {
    await ask.number('sum', { message: 'How much?', min: 1 });
    await ask.step('charge', () => ({ receipt: 'R-17' }), { effect: 'retry', undo: () => {} });
    return ask.text('note', { message: 'A note for the receipt?' });
  });
  const store = await createSqliteStore({ path: join(home.path, 'flows.db') });
  const log = createLog({ level: 'silent' });
  const plays: [id: string, minutesAgo: number, answers: unknown[]][] = [
    ['session_8xkqLm2pT5mGp0aLr7sVdw', 12, [40]],
    ['session_qk8nW2xuA1bC3dE5fG7hIj', 95, []],
  ];
  for (const [id, minutes, answers] of plays) {
    const clock = { ...systemClock, now: () => systemClock.now() - minutes * MINUTE };
    const sessions = new Sessions([served], { store, clock, log, sweep: false, newId: () => id });
    await sessions.start({ principal: 'ada', tool: 'pay' });
    for (const value of answers) {
      await settled(await sessions.answer({ principal: 'ada', sessionId: id, answers: [{ value }] }));
    }
    await sessions.close();
  }
  await store.close();
}
