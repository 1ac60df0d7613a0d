// Steps are renamed and dropped without a word about the sessions that are open.
import { flow } from 'mcp-parley/flow';
import { bank } from './bank.mjs';

export const pay = flow({ name: 'pay', description: 'Pay a bill' }, async (ask) => {
  const sum = await ask.number('sum', { message: 'How much?', min: 1 });
  await ask.step('charge-card', (step) => bank.charge(sum, step.idempotencyKey), { effect: 'retry' });
  const note = await ask.text('note', { message: 'A note for your records?' });
  return `Paid ${sum}: ${note}`;
});
