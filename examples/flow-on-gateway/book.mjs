import { flow } from 'mcp-parley/flow';

export const book = flow({ name: 'book', description: 'Book a flight' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const quote = await ask.step('quote', ({ call }) => call('flights__quote', { city }));
  const price = Number(quote.structuredContent.price);
  if (!(await ask.confirm('ok', { message: `Pay ${price} for ${city}?` }))) return 'Nothing booked';
  const reserve = (step) => step.call('flights__reserve', { city, key: step.idempotencyKey });
  const { structuredContent } = await ask.step('reserve', reserve, { effect: 'retry' });
  return `Booked: ${city}, ${price}, ${structuredContent.reference}`;
});
