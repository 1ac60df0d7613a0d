// What is asked depends on what was answered. The price is looked up once; the booking is made once, and cancelled if the user goes
// back before it.
import { flow } from 'mcp-parley/flow';

/** Stands for a travel agency that takes a key with each booking, and knows it again. */
export const bookings = new Map();

export const trip = flow({ name: 'book_trip', description: 'Book a trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const day = await ask.date('day', { message: 'When do you leave?', min: ask.today() });
  const travellers = await ask.number('travellers', { message: 'How many of you?', integer: true, min: 1, max: 9 });
  const fare = await ask.choice('fare', [
    { value: 90, label: 'Economy' },
    { value: 240, label: 'Business' },
  ]);
  const extras = await ask.choices('extras', ['bag', 'seat', 'train'], { message: 'What else?', required: false });
  const meal = fare > 100 ? await ask.choice('meal', ['fish', 'vegetables'], { message: 'Which meal?' }) : undefined;
  const price = await ask.step('quote', async () => travellers * (fare + 10 * (extras?.length ?? 0)));
  if (!(await ask.confirm('pay', { message: `Pay ${price} EUR for ${city}?` }))) return { booked: false };
  await ask.step('book', async (step) => void bookings.set(step.idempotencyKey, { city, day, travellers }), {
    effect: 'retry',
    undo: (_, step) => bookings.delete(step.idempotencyKey),
  });
  return { booked: true, city, day, travellers, extras, meal, price };
});
