// The tool book_table, which asks the user with a form for missing arguments. The bookings are a resource, so subscribed clients are
// notified of new ones.
import type { ParleyServer } from '../../../server/create-server.ts';
import type { Call } from '../../../server/types.ts';

interface Booking {
  name: string;
  time: string;
  people: number;
}

const URI = 'demo://bookings';
const MAX_BOOKINGS = 100;
const FIELDS = {
  name: { type: 'string', title: 'Name', minLength: 1, maxLength: 80 },
  time: { type: 'string', title: 'Time', enum: ['18:00', '19:00', '20:00', '21:00'] },
  people: { type: 'integer', title: 'People', minimum: 1, maximum: 12 },
};

export function addBookings(server: ParleyServer): void {
  const bookings: Booking[] = [];
  const options = { name: 'bookings', description: 'Tables booked so far', mimeType: 'application/json' };
  server.resource(URI, options, () => JSON.stringify(bookings));

  const description = 'Books a table for tonight; asks the user for whatever is not given';
  server.tool('book_table', { description, input: { type: 'object', properties: FIELDS } }, async (args, call) => {
    const booking = await complete(args, call);
    if (booking === undefined) return 'Nothing was booked: the user did not want to.';
    bookings.push(booking);
    if (bookings.length > MAX_BOOKINGS) bookings.shift();
    server.touch(URI);
    return `Booked: ${booking.people} at ${booking.time} for ${booking.name}.`;
  });
}

/** Undefined when the user declines. */
async function complete(given: Partial<Booking>, call: Call): Promise<Booking | undefined> {
  const missing = Object.entries(FIELDS).filter(([field]) => !(field in given));
  if (missing.length === 0) return given as Booking;
  const names = missing.map(([field]) => field);
  if (!call.ask.can('elicit')) {
    throw new Error(`This client cannot ask its user. Call book_table again with ${names.join(', ')}.`);
  }
  const schema = { type: 'object', properties: Object.fromEntries(missing), required: names };
  const answer = await call.ask.elicit({ message: 'A table for tonight: please fill in.', schema, key: 'booking' });
  return answer.action === 'accept' ? ({ ...given, ...answer.content } as Booking) : undefined;
}
