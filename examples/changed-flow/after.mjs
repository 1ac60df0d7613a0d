// The version that is to be deployed: a step has another name, one is gone, and one more question is asked.
import { flow } from 'mcp-parley/flow';
import { bank } from './bank.mjs';

const migrate = {
  renamed: { charge: 'charge-card' }, // its result and its idempotency key are kept
  dropped: ['send-fax'], // not asked for any more; what it has done stays
};

export const pay = flow({ name: 'pay', description: 'Pay a bill', migrate }, async (ask) => {
  const sum = await ask.number('sum', { message: 'How much?', min: 1 });
  // Sessions that were here before the question was written keep their way.
  const isChecked = ask.version('check-iban');
  const iban = isChecked ? await ask.text('iban', { message: 'To which account?' }) : 'the account on file';
  await ask.step('charge-card', (step) => bank.charge(sum, step.idempotencyKey), { effect: 'retry' });
  const note = await ask.text('note', { message: 'A note for your records?' });
  return `Paid ${sum} to ${iban}: ${note}`;
});
