// What is asked depends on what was answered. The price is looked up once; the booking is made once, and cancelled if the user goes
// back before it.
import { flow } from 'mcp-parley/flow';

/** Stands for a travel agency that takes a key with each booking, and knows it again. */
export const bookings = new Map();

const FARES = [
  { value: 90, label: 'Economy' },
  { value: 240, label: 'Business' },
];

export const trip = flow({ name: 'book_trip', description: 'Book a trip', version: '1' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const day = await ask.date('day', { message: 'When do you leave?', min: ask.today() });
  const ahead = true; // whatever is answered before these, they are asked: one form has room for all of them
  const many = { message: 'How many of you?', integer: true, min: 1, max: 9, ahead };
  const travellers = await ask.number('travellers', many);
  const fare = await ask.choice('fare', FARES, { message: 'Which fare?', ahead });
  const extras = await ask.choices('extras', ['bag', 'seat', 'train'], {
    message: 'What else?',
    required: false,
    ahead,
  });
  const meal = fare > 100 ? await ask.choice('meal', ['fish', 'vegetables'], { message: 'Which meal?' }) : undefined;
  const price = await ask.step('quote', async () => travellers * (fare + 10 * (extras?.length ?? 0)));
  if (!(await ask.confirm('pay', { message: `Pay ${price} EUR for ${city}?` }))) return { booked: false };
  await ask.step('book', async (step) => void bookings.set(step.idempotencyKey, { city, day, travellers }), {
    effect: 'retry',
    undo: (_, step) => bookings.delete(step.idempotencyKey),
  });
  return { booked: true, city, day, travellers, extras, meal, price };
});
