// What is measured of Parley: a flow of six questions and a step that reads, and one that asks as often as it is told.
import { flow } from '../../dist/_entries/internals.js';

export const trip = flow({ name: 'trip', description: 'Six questions' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const day = await ask.date('day', { message: 'When?' });
  const cls = await ask.choice('cls', ['economy', 'business'], { message: 'Class?' });
  const meal = await ask.choice('meal', ['none', 'vegan'], { message: 'Meal?' });
  const quote = await ask.step('quote', async () => ({ price: city.length * 10, currency: 'EUR' }));
  const seat = await ask.choice('seat', ['aisle', 'window'], { message: 'Seat?' });
  const ok = await ask.confirm('ok', { message: `Pay ${quote.price}?` });
  return { city, day, cls, meal, seat, ok };
});

export const survey = flow(
  { name: 'survey', description: 'Many questions', limits: { prompts: 10_000 } },
  async (ask) => {
    for (let n = 0; n < 5000; n++) await ask.text('q', { message: `Question ${n}?` });
  },
);

/** A session of the survey with so many answers. */
export function surveyed(count) {
  const [id, ts] = [`session_${'A'.repeat(22)}`, 1_763_190_000_000];
  const answers = Array.from({ length: count }, (_, n) => {
    const k = n === 0 ? 'q' : `q#${n + 1}`;
    return { t: 'ans', k, a: 1, ty: 'text', v: 'twenty characters ok', src: 'human', via: 'mrtr', ts: ts + n };
  });
  const header = {
    id,
    tool: 'survey',
    version: '1',
    principal: 'p',
    state: 'waiting_user',
    rev: count,
    createdAt: ts,
    lastActivityAt: ts,
    expiresAt: ts + 3e5,
    timeoutMs: 3e5,
    deadline: ts + 36e5,
    rounds: count,
    prompts: count,
    attempts: 0,
    via: 'mrtr',
    current: [],
  };
  return { header, entries: [{ t: 'start', input: {}, seed: 'A'.repeat(22), ts }, ...answers] };
}
