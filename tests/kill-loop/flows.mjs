// Flows whose effects append lines to a file. One line is one write, which a kill cannot split.
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { flow } from '../../dist/_entries/internals.js';

/** One in this many undos fails. */
const UNDO_FAILS = 0.1;
/** Half of all attempts fail before they do anything. A step must not fail, so this is enough attempts. */
const RETRY = { attempts: 40, pause: 2, maxPause: 8 };
/** Duration of the step during which an event may arrive. */
const LONGEST_STEP_MS = 80;
/** Much longer than the delay of a wake-up on a busy machine, so that one that wakes too early is noticed. */
export const SLEEP_MS = 2000;
export const EVENTS = ['sent', 'signed'];

/** `fault(name)` is called where a process may be made to die, `onSent(session)` when something is under way that an event will tell of. */
export function createFlows({ effects, fault, onSent, sabotage = '' }) {
  const act = (step, session, { idempotencyKey, attempt }, answers) => {
    const key = sabotage === 'vary' ? `${idempotencyKey}.${process.pid}` : idempotencyKey;
    const isForgotten = sabotage === 'forget' && /^(?:undo-|clean)/.test(step) && Math.random() < 0.3;
    if (isForgotten) return undefined;
    fault('before-effect');
    const at = Date.now();
    appendFileSync(effects, `${JSON.stringify({ step, session, key, answers, attempt, at })}\n`);
    // The effect has happened, and nobody has written that down.
    fault('after-effect');
    return { by: step, at };
  };
  const text = (ask, key) => ask.text(key, { message: `${key}?` });

  const order = flow({ name: 'order', description: 'Answers and two effects' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    const [b, c] = await Promise.all([text(ask, 'b'), text(ask, 'c')]);
    const quote = await ask.step('quote', async () => ({ price: a.length }));
    const d = await text(ask, 'd');
    const pay = (step) => act('pay', id, step, { a, b, c, d, price: quote.price });
    await ask.step('pay', pay, { effect: 'retry' });
    const e = await text(ask, 'e');
    const ship = (step) => act('ship', id, step, { a, b, c, d, e });
    await ask.step('ship', ship, { effect: 'retry' });
    return { a, b, c, d, e };
  });

  const once = flow({ name: 'once', description: 'An effect that must never happen twice' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    await ask.step('fire', (step) => act('fire', id, step, { a }), { effect: 'once' });
    return { a };
  });

  /** Sleeps, and has steps that fail more often than not. */
  const errand = flow(
    { name: 'errand', description: 'A sleep between two steps that are tried again' },
    async (ask) => {
      const { id } = ask.session;
      const a = await text(ask, 'a');
      const flaky = (key, answers) => [
        (step) => {
          if (Math.random() < 0.5) throw new Error('not now');
          return act(key, id, step, answers);
        },
        { effect: 'retry', retry: RETRY },
      ];
      // When it left, as the journal has it: a process that has lost its lease may have left once more, and nobody asks that one.
      const { at: left } = await ask.step('leave', ...flaky('leave', { a }));
      await ask.sleep('way', SLEEP_MS);
      await ask.step('arrive', ...flaky('arrive', { a, left }));
      return { a };
    },
  );

  /** Waits for two events. Each may arrive before it is awaited, while a step runs, and while no process holds the session. */
  const parcel = flow({ name: 'parcel', description: 'Steps and the events that they wait for' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    const coming = ask.event('sent');
    const send = async (step) => {
      await setTimeout(Math.random() * LONGEST_STEP_MS);
      onSent(id);
      return act('send', id, step, { a });
    };
    await ask.step('send', send, { effect: 'retry' });
    const sent = await coming;
    await ask.step('take', (step) => act('take', id, step, { a, sent }), { effect: 'retry' });
    const signed = await ask.event('signed');
    await ask.step('file', (step) => act('file', id, step, { a, sent, signed }), { effect: 'retry' });
    return { a, sent, signed };
  });

  /** Never completes: it fails, is declined, is cancelled or expires, takes back what it has done, and cleans up. */
  const saga = flow({ name: 'saga', description: 'Two effects that are taken back' }, async (ask) => {
    const { id } = ask.session;
    const a = await text(ask, 'a');
    const effect = (key) => [
      (step) => act(key, id, step, { a }),
      {
        effect: 'retry',
        undo: (_, step) => {
          if (Math.random() < UNDO_FAILS) throw new Error('not now');
          act(`undo-${key}`, id, step, { a });
        },
      },
    ];
    try {
      await ask.step('reserve', ...effect('reserve'));
      const b = await text(ask, 'b');
      const held = ask.step('hold', ...effect('hold'));
      if (b.length % 2 === 0) await Promise.all([held, ask.step('fails', () => Promise.reject(new Error('no')))]);
      await held;
      await text(ask, 'c');
      throw new Error('the end of every saga');
    } finally {
      const clean = (step) => act('clean', id, step, { a });
      await ask.step('clean', clean, { effect: 'retry', cleanup: true });
    }
  });

  return [order, once, errand, parcel, saga];
}
