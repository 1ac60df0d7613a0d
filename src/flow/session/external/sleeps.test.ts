import { expect, it } from 'vitest';
import { until } from '../../../../tests/helpers/until.ts';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { Sessions } from '../sessions.ts';

const HOUR = 3_600_000;

it('sleeps as long after a step that took its time as after one that did not', async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const began = clock.now();
  const tool = flow({ name: 'x', limits: { duration: '60d' } }, async (ask) => {
    await ask.step('work', () => clock.move(HOUR / 2), { effect: 'retry' });
    await ask.sleep('nap', '1h');
  });
  const sessions = new Sessions([tool], { clock, store });
  const { header } = await sessions.start({ principal: 'me', tool: 'x' });
  const waits = async () => (await store.load(header.id))?.header.waits;
  await until('the sleep', async () => (await waits()) !== undefined);
  expect(await waits()).toEqual([{ key: 'nap', kind: 'sleep', until: began + HOUR / 2 + HOUR }]);
  await sessions.close();
});
