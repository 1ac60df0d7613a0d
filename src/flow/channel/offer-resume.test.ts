// What a call that went away has left, when its caller comes again.
import { expect, it } from 'vitest';
import type { Exchange } from '../../protocol/exchange.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { memoryStore } from '../store/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { offerResume } from './offer-resume.ts';

const start = { principal: 'me', tool: 'x', via: 'elicit' as const };
const asked = { canAsk: () => true, ask: async () => ({ action: 'accept', content: { resume: true } }) };
const exchange = asked as unknown as Exchange;

/** In a process that has ended since. */
async function left() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const body = flow({ name: 'x' }, async (ask) => {
    await ask.text('first', { alone: true });
    await ask.text('second', { alone: true });
  });
  const make = () => new Sessions([body], { clock, store });
  const sessions = make();
  const { header } = await sessions.start(start);
  await sessions.answer({ principal: 'me', sessionId: header.id, answers: [{ value: '1' }], via: 'elicit' });
  await sessions.close();
  return { clock, sessions: make(), waiting: new Set<string>() };
}

it('is offered', async () => {
  const offering = await left();
  expect(await offerResume(exchange, start, offering)).toMatchObject({ questions: [{ key: 'second' }] });
});

it('is not there once its time is over, though nobody has looked after it since', async () => {
  const offering = await left();
  offering.clock.move(3_600_000);
  expect(await offerResume(exchange, start, offering)).toBeUndefined();
});
