// Answers that are changed, taken back, or refused, by every way in which a call asks.
import { afterEach, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { Client, ConnectOptions, ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { testServer } from 'mcp-parley/testing';
import { within } from '../helpers/until.ts';

type Form = { message: string; properties: Record<string, { default?: unknown }> };
type Content = Record<string, unknown>;

let booked = 0;
const trip = flow({ name: 'trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2, alone: true });
  const sure = await ask.confirm('sure', { message: 'Sure?', by: 'human' });
  const cls = await ask.choice('cls', ['economy', 'business'], { message: 'Class?', alone: true });
  const meal = cls === 'business' ? await ask.text('meal', { message: 'Meal?' }) : 'none';
  const price = await ask.step('quote', async () => (cls === 'business' ? 90 : 30));
  const ok = await ask.confirm('ok', { message: `${city} for ${price}?` });
  if (ok) await ask.step('book', async () => void booked++, { effect: 'once', check: async () => true });
  const note = await ask.text('note', { message: 'Note?', required: false });
  return { city, sure, cls, meal, price, ok, note };
});

const order = flow({ name: 'order' }, async (ask) => {
  const dish = await ask.choice('dish', ['soup', 'pie'], { message: 'What?' });
  const much = await ask.number('much', { message: `How much ${dish}?` });
  return { dish, much, ok: await ask.confirm('ok', { message: `Serve ${much} ${dish}?`, by: 'human' }) };
});

let server: ParleyServer | undefined;
afterEach(() => server?.close());

async function joined(client: ConnectOptions): Promise<Client> {
  const log = createLog({ level: 'silent' });
  server = createServer({ name: 'trips', version: '1', log });
  serveFlows(server, [trip, order]);
  return (await testServer(server, { log, ...client })).client;
}

/** Answers the forms one after the other, and keeps what was shown. */
function saying(contents: Content[]): { shown: Form[]; onElicit: NonNullable<ConnectOptions['onElicit']> } {
  const shown: Form[] = [];
  const onElicit: NonNullable<ConnectOptions['onElicit']> = (request) => {
    const { properties = {} } = (request as { requestedSchema?: { properties?: object } }).requestedSchema ?? {};
    shown.push({ message: request.message, properties: properties as Form['properties'] });
    const { action = 'accept', ...content } = contents[shown.length - 1] ?? {};
    return { action, content } as never;
  };
  return { shown, onElicit };
}

describe.each(['2025-06-18', '2025-11-25', '2026-07-28'])('in a client of %s that shows forms', (revision) => {
  const play = async (contents: Content[]) => {
    const { shown, onElicit } = saying(contents);
    const client = await joined({ revision, onElicit });
    const { structuredContent } = await within('the call', client.callTool('trip'));
    await client.close();
    return { shown, result: structuredContent };
  };

  test('what was refused is shown again', async () => {
    const { shown } = await play([
      { city: 'X' },
      { city: 'Oslo' },
      { sure: true },
      { cls: 'economy' },
      { ok: false },
      {},
    ]);
    expect(shown[1]!.message).toMatch(/at least 2.*\nWhere to\?$/s);
    expect(shown[1]!.properties['city']!.default).toBe(revision === '2025-06-18' ? undefined : 'X'); // its forms have no defaults
  });

  test('an earlier answer is changed: what depends on it is done again, the rest is kept', async () => {
    const edited = { edit: { cls: 'economy' } };
    const { shown, result } = await play([
      { city: 'Oslo' },
      { sure: true },
      { cls: 'business' },
      { meal: 'fish' },
      edited,
      { ok: true },
      {},
    ]);
    expect(shown.map(({ message }) => message)).toEqual([
      'Where to?',
      'Sure?',
      'Class?',
      'Meal?',
      'Oslo for 90?',
      'Oslo for 30?',
      'Note?',
    ]);
    expect(result).toMatchObject({ city: 'Oslo', cls: 'economy', meal: 'none', price: 30, ok: true });
  });

  test('back to the question before, and to one that is named', async () => {
    const { shown } = await play([
      { city: 'Oslo' },
      { back: true },
      { city: 'Bergen' },
      { sure: true },
      { back: 'city' },
      { city: 'Rome' },
      { action: 'cancel' },
    ]);
    expect(shown.map(({ message }) => message)).toEqual([
      'Where to?',
      'Sure?',
      'Where to?',
      'Sure?',
      'Class?',
      'Where to?',
      'Sure?',
    ]);
  });

  test('the user learns what cannot be changed, and nothing is changed', async () => {
    const start = [{ city: 'Oslo' }, { sure: true }, { cls: 'economy' }, { ok: true }];
    const { shown, result } = await play([
      ...start,
      { edit: { city: 'Rome' } },
      { edit: { city: '' } },
      { edit: { nobody: 1 } },
      { note: 'n' },
    ]);
    const said = shown.slice(5).map(({ message }) => message);
    expect(said[0]).toBe('Nothing was changed: book is done and cannot be undone.\nNote?');
    expect(said[1]).toMatch(/^city: .*\nNote\?$/s);
    expect(said[2]).toBe('Nothing was changed: nobody cannot be changed.\nNote?');
    expect(result).toMatchObject({ city: 'Oslo', note: 'n' });
  });

  test('a consent is not changed for a person: they are asked again', async () => {
    const { shown, result } = await play([
      { city: 'Oslo' },
      { sure: false },
      { cls: 'economy' },
      { edit: { sure: true } },
      { sure: false },
      { cls: 'economy' },
      { ok: false },
      {},
    ]);
    expect(shown.filter(({ message }) => message === 'Sure?')).toHaveLength(2);
    expect(result).toMatchObject({ sure: false });
  });
});

test('by a model: told how, once there is something to change', async () => {
  const client = await joined({ revision: '2026-07-28' });
  const call = async (name: string, args: Content) => {
    const { content, _meta, structuredContent } = await within(name, client.callTool(name, args));
    const text = content[0]?.type === 'text' ? content[0].text : '';
    return { text, handle: String(_meta?.['mcp-parley/handle']), structuredContent };
  };
  const first = await call('order', {});
  expect(first.text).not.toContain('"edit"');
  const early = await call('parley_answer', { handle: first.handle, answer: { edit: { dish: 'pie' } } });
  expect(early.text).toContain('does not fit');
  const second = await call('parley_answer', { handle: first.handle, answer: { dish: 'soup' } });
  expect(second.text).toContain('{"edit":{"<name>":"<value>"}}');
  const third = await call('parley_answer', { handle: second.handle, answer: { edit: { dish: 'pie' } } });
  expect(third.text).toContain('How much pie?');
  const wrong = await call('parley_answer', { handle: third.handle, answer: { edit: { dish: 'cake' } } });
  expect(wrong.text).toMatch(/dish: Not one/);
  const again = await call('parley_answer', { handle: wrong.handle, answer: { back: true } });
  expect(again.text).toContain('What?');
  const last = await call('parley_answer', { handle: again.handle, answer: { dish: 'soup' } });
  const consent = await call('parley_answer', { handle: last.handle, answer: { much: 2 } });
  expect(consent.text).toContain('Only the user can answer this');
  const changed = await call('parley_answer', { handle: consent.handle, answer: { edit: { much: 3 } } });
  expect(changed.text).toContain('Serve 3 soup?');
  await client.close();
});
