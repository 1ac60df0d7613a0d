// Three flows whose effects are lines in a file. One line is one write, which a kill cannot cut in two.
import { appendFileSync } from 'node:fs';
import { flow } from '../../dist/flow/define.js';

/** One in so many tries to take something back. */
const UNDO_FAILS = 0.1;

/** `fault(name)` is called where a process may be made to die. */
export function createFlows({ effects, fault, vary }) {
  const act = (step, session, idempotencyKey, answers) => {
    const key = vary ? `${idempotencyKey}.${process.pid}` : idempotencyKey;
    fault('before-effect');
    appendFileSync(effects, `${JSON.stringify({ step, session, key, answers, pid: process.pid })}\n`);
    // The effect has happened, and nobody has written that down.
    fault('after-effect');
    return { by: step };
  };
  const text = (ask, key) => ask.text(key, { message: `${key}?` });

  const order = flow({ name: 'order', description: 'Answers and two effects' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    const [b, c] = await Promise.all([text(ask, 'b'), text(ask, 'c')]);
    const quote = await ask.step('quote', async () => ({ price: a.length }));
    const d = await text(ask, 'd');
    const pay = ({ idempotencyKey }) => act('pay', id, idempotencyKey, { a, b, c, d, price: quote.price });
    await ask.step('pay', pay, { effect: 'retry' });
    const e = await text(ask, 'e');
    const ship = ({ idempotencyKey }) => act('ship', id, idempotencyKey, { a, b, c, d, e });
    await ask.step('ship', ship, { effect: 'retry' });
    return { a, b, c, d, e };
  });

  const once = flow({ name: 'once', description: 'An effect that must never happen twice' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    await ask.step('fire', ({ idempotencyKey }) => act('fire', id, idempotencyKey, { a }), { effect: 'once' });
    return { a };
  });

  /** Never comes to its end: it fails, is declined, or is cancelled, and takes back what it has done. */
  const saga = flow({ name: 'saga', description: 'Two effects that are taken back' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    const effect = (key) => [
      ({ idempotencyKey }) => act(key, id, idempotencyKey, { a }),
      {
        effect: 'retry',
        undo: (_, { idempotencyKey }) => {
          if (Math.random() < UNDO_FAILS) throw new Error('not now');
          act(`undo-${key}`, id, idempotencyKey, { a });
        },
      },
    ];
    await ask.step('reserve', ...effect('reserve'));
    const b = await text(ask, 'b');
    const held = ask.step('hold', ...effect('hold'));
    if (b.length % 2 === 0) await Promise.all([held, ask.step('fails', () => Promise.reject(new Error('no')))]);
    await held;
    await text(ask, 'c');
    throw new Error('the end of every saga');
  });

  return [order, once, saga];
}
