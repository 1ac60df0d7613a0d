// The server behind `parley demo`: a few tools that each show one feature. Weather and tables are made up, always in the same way, so
// nothing leaves this machine and clients can be checked.
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from '../../../server/create-server.ts';
import type { ParleyServer } from '../../../server/create-server.ts';
import type { Log } from '../../../shared/log.ts';
import { addBookings } from './demo-bookings.ts';
import { CITIES, citiesLike, weatherIn } from './demo-weather.ts';

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
