// The server behind `parley demo`: a few tools that each show one feature. Weather and tables are made up, always in the same way, so
// nothing leaves this machine and clients can be checked.
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from '../../../sdk/server/create-server.ts';
import type { ParleyServer } from '../../../sdk/server/create-server.ts';
import type { Call } from '../../../sdk/server/types.ts';
import type { Log } from '../../../kernel/base/log.ts';

const INSTRUCTIONS =
  'A demo. Try add, weather, countdown (progress, cancel it), book_table (asks the user) and summarize (asks the model).';

export function createDemoServer({ version, log }: { version: string; log: Log }): ParleyServer {
  const title = 'Parley demo';
  const server = createServer({ name: 'parley-demo', title, version, log, instructions: INSTRUCTIONS });
  addSums(server);
  addWeather(server);
  addCountdown(server);
  addBookings(server);
  addSummary(server);
  addAbout(server);
  return server;
}

function addSums(server: ParleyServer): void {
  const number = { type: 'number' };
  const input = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] };
  const output = { type: 'object', properties: { sum: number }, required: ['sum'] };
  const annotations = { readOnlyHint: true };
  server.tool('add', { description: 'Adds two numbers', input, output, annotations }, (args) => {
    const { a, b } = args as { a: number; b: number };
    return { sum: a + b };
  });
}

function addWeather(server: ParleyServer): void {
  const input = { type: 'object', properties: { city: { type: 'string', minLength: 1 } }, required: ['city'] };
  const output = {
    type: 'object',
    properties: { city: { type: 'string' }, celsius: { type: 'number' }, sky: { type: 'string' } },
    required: ['city', 'celsius', 'sky'],
  };
  const annotations = { readOnlyHint: true };
  const description = 'The weather in a city: invented, but the same every time';
  server.tool('weather', { description, input, output, annotations }, ({ city }) => weatherIn(city as string));

  const template = { name: 'city', description: 'The weather in one city', mimeType: 'application/json' };
  const complete = { city: citiesLike };
  server.template('demo://weather/{city}', { ...template, complete }, (_uri, { city = '' }) =>
    CITIES.includes(city) ? JSON.stringify(weatherIn(city)) : undefined,
  );
  const wanted = [{ name: 'city', description: 'Where to spend it', required: true }];
  const prompt = { description: 'Plan an evening in a city', arguments: wanted, complete };
  server.prompt(
    'plan_evening',
    prompt,
    ({ city }) => `Look up the weather in ${city}, book a table, and plan my evening.`,
  );
}

function addCountdown(server: ParleyServer): void {
  const from = { type: 'integer', minimum: 1, maximum: 60, default: 5, description: 'Seconds to count down' };
  const input = { type: 'object', properties: { from } };
  const description = 'Counts down, one step a second; tells its progress and stops when it is cancelled';
  server.tool('countdown', { description, input }, async (args, call) => {
    const { from: total = 5 } = args as { from?: number };
    for (let done = 0; done < total; done++) {
      call.progress(done, total, `${total - done} …`);
      await sleep(1000, undefined, { signal: call.signal });
    }
    call.progress(total, total, 'Lift-off');
    return `Counted down from ${total}.`;
  });
}

function addSummary(server: ParleyServer): void {
  const input = { type: 'object', properties: { text: { type: 'string', minLength: 1 } }, required: ['text'] };
  const description = "Summarizes a text with the client's own model; without one it gives the first sentence";
  server.tool('summarize', { description, input }, async ({ text }, call) => {
    if (!call.ask.can('sample'))
      return `${firstSentence(text as string)} (First sentence: this client lends no model.)`;
    const question = `Summarize in one sentence:\n\n${text as string}`;
    const answer = await call.ask.sample({
      messages: [{ role: 'user', content: { type: 'text', text: question } }],
      maxTokens: 200,
    });
    return toText(answer.content);
  });
}

function addAbout(server: ParleyServer): void {
  const options = { name: 'about', description: 'What this demo offers', mimeType: 'text/plain' };
  server.resource('demo://about', options, () => INSTRUCTIONS);
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

function toText(content: unknown): string {
  const blocks = (Array.isArray(content) ? content : [content]) as { type?: string; text?: string }[];
  return blocks.map((block) => block.text ?? '').join('\n');
}

const CITIES: readonly string[] = ['Athens', 'Bergen', 'Lisbon', 'Madrid', 'Osaka', 'Oslo', 'Paris', 'Rome', 'Tokyo'];

const SKIES = ['clear', 'cloudy', 'foggy', 'rainy', 'snowy', 'stormy', 'sunny', 'windy'];

/** Made up from the name of the city. */
function weatherIn(city: string): { city: string; celsius: number; sky: string } {
  let sum = 0;
  for (const letter of city.toLowerCase()) sum = (sum * 31 + letter.codePointAt(0)!) % 10_007;
  return { city, celsius: (sum % 36) - 5, sky: SKIES[sum % SKIES.length]! };
}

function citiesLike(typed: string): string[] {
  return CITIES.filter((city) => city.toLowerCase().startsWith(typed.toLowerCase()));
}

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

/**
 * The tool book_table, which asks the user with a form for missing arguments. The bookings are a resource, so subscribed clients are notified of new
 * ones.
 */
function addBookings(server: ParleyServer): void {
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
