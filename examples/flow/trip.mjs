import { flow } from 'mcp-parley/flow';

export const trip = flow({ name: 'trip', description: 'Book a trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const seat = await ask.choice('seat', ['aisle', 'window'], { message: 'Which seat?' });
  const price = await ask.step('price', async () => city.length * 10);
  const ok = await ask.confirm('ok', { message: `Pay ${price} for ${city}?` });
  return ok ? `Booked: ${city}, ${seat}, ${price}` : 'Nothing booked';
});
