// Serves the page with a round, as a gateway does.
import { createPagePort } from '../../src/mcp/listen/http/page-port.ts';
import type { FakeRound } from '../../src/people/page/fake-round.contract.ts';
import { fakeRound } from '../../src/people/page/fake-round.contract.ts';
import { createAskPage } from '../../src/people/page/ask-page.ts';
import { systemClock } from '../../src/kernel/base/clock.ts';
import { createLog } from '../../src/kernel/base/log.ts';
import { createSealer } from '../../src/kernel/crypto/seal.ts';

export interface Served {
  readonly url: string;
  readonly round: FakeRound;
  close(): Promise<void>;
}

export async function serveRound(round: FakeRound): Promise<Served> {
  const log = createLog({ level: 'silent' });
  const port = createPagePort({ pages: () => page.pages, log });
  const page = createAskPage({
    round: (handle) => (handle === round.handle ? round : undefined),
    sealer: createSealer(),
    clock: systemClock,
    log,
    baseUrl: () => port.url(),
  });
  return { url: await page.link(round), round, close: () => port.close() };
}

const booking = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'As it stands in your passport.', minLength: 2, maxLength: 60 },
    email: { type: 'string', title: 'E-mail', format: 'email' },
    travellers: { type: 'integer', title: 'Travellers', minimum: 1, maximum: 9, default: 1 },
    day: { type: 'string', title: 'Day of departure', format: 'date' },
    class: {
      type: 'string',
      title: 'Class',
      oneOf: [
        { const: 'eco', title: 'Economy' },
        { const: 'biz', title: 'Business' },
      ],
      default: 'eco',
    },
    meals: { type: 'array', title: 'Meals', items: { enum: ['Breakfast', 'Lunch', 'Dinner'] }, maxItems: 2 },
    insurance: { type: 'boolean', title: 'Travel insurance' },
  },
  required: ['name', 'email', 'travellers', 'day', 'class', 'insurance'],
};

/** A typical question. */
export const bookingRound = (): FakeRound =>
  fakeRound({ book: { message: 'Who is travelling to Lisbon, and how?', requestedSchema: booking } });

/** One field of every kind that the booking lacks. */
export const everythingRound = (): FakeRound =>
  fakeRound({
    more: {
      message: 'Please complete your application.\n\nIt is kept for a year.',
      requestedSchema: {
        type: 'object',
        properties: {
          letter: { type: 'string', title: 'Letter', 'x-parley': 'multiline' },
          site: { type: 'string', title: 'Website', format: 'uri' },
          at: { type: 'string', title: 'Interview', format: 'date-time' },
          country: { type: 'string', title: 'Country', enum: COUNTRIES },
          pay: { type: 'number', title: 'Hourly wage', minimum: 0 },
          token: { type: 'string', title: 'Access token', format: 'password' },
          cv: { type: 'object', title: 'Curriculum vitae', 'x-parley': 'file', accept: '.txt,.pdf', maxBytes: 102_400 },
          extra: { type: 'object', title: 'Anything else' },
        },
        required: ['letter', 'country', 'token', 'cv'],
      },
    },
    sign: { mode: 'url', message: 'Sign the agreement.', url: 'https://sign.example.com/agreements/4711?lang=en' },
    newsletter: {
      message: 'Shall we write to you?',
      requestedSchema: {
        type: 'object',
        properties: { yes: { type: 'boolean', title: 'Write to me' } },
        required: ['yes'],
      },
    },
  });

export const urlRound = (): FakeRound =>
  fakeRound(
    {
      auth: {
        mode: 'url',
        message: 'Please sign in to GitHub, so that the issue can be filed in your name.',
        url: 'https://github.com/login/oauth/authorize?client_id=0123456789abcdef&scope=repo',
      },
    },
    { about: { tool: 'create_issue', server: 'github', client: 'Claude' } },
  );

export const approvalRound = (): FakeRound =>
  fakeRound(
    {
      approve: {
        message: 'delete_branch wants to run with:\n\nbranch: release/2.4\nforce: true',
        requestedSchema: {
          type: 'object',
          properties: { allow: { type: 'boolean', title: 'Allow this call' } },
          required: ['allow'],
        },
      },
    },
    { about: { tool: 'delete_branch', server: 'git', client: 'Claude' } },
  );

const COUNTRIES = [
  'Argentina',
  'Austria',
  'Belgium',
  'Brazil',
  'Canada',
  'Denmark',
  'Estonia',
  'Finland',
  'France',
  'Portugal',
];
