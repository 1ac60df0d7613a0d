// The flow that every engine runs, six questions and a step that reads, and the answers it is given.
export const ANSWERS = { city: 'Paris', day: '2026-05-15', cls: 'economy', meal: 'none', seat: 'aisle', ok: true };
/** A session has so many turns: its start, which ends with the first question, and six answers. */
export const TURNS = 7;

/** For engines in which a flow is plain code with two operations of the engine: ask, and run a step. Parley's own is in trip.mjs. */
export async function plainTrip(ask, step) {
  const city = await ask('city', { message: 'Where to?' });
  const day = await ask('day', { message: 'When?' });
  const cls = oneOf(['economy', 'business'], await ask('cls', { message: 'Class?' }));
  const meal = oneOf(['none', 'vegan'], await ask('meal', { message: 'Meal?' }));
  const quote = await step('quote', async () => ({ price: city.length * 10, currency: 'EUR' }));
  const seat = oneOf(['aisle', 'window'], await ask('seat', { message: 'Seat?' }));
  const ok = await ask('ok', { message: `Pay ${quote.price}?` });
  return { city, day, cls, meal, seat, ok };
}

function oneOf(choices, value) {
  if (!choices.includes(value)) throw new Error(`not one of ${choices}: ${value}`);
  return value;
}
