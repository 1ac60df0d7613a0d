// The version that is served today.
import { flow } from 'mcp-parley/flow';
import { bank } from './bank.mjs';

export const pay = flow({ name: 'pay', description: 'Pay a bill' }, async (ask) => {
  const sum = await ask.number('sum', { message: 'How much?', min: 1 });
  await ask.step('charge', (step) => bank.charge(sum, step.idempotencyKey), { effect: 'retry' });
  await ask.step('send-fax', () => bank.told.push(`fax: ${sum} paid`), { effect: 'retry' });
  const note = await ask.text('note', { message: 'A note for your records?' });
  return `Paid ${sum}: ${note}`;
});
