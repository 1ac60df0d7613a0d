// One function through every channel of a plain server: forms of clients, calls that are ended with questions and made again,
// our page, the model's words, and arguments. The same answers give the same result.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { Client, ConnectOptions, ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { FakeBrowser, csrfOf } from '../../src/people/page/fake-round.contract.ts';
import { exploredOf } from '../helpers/explored.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { elicits, modern } from '../helpers/mcp-http.ts';
import { within } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });
const KEYS = ['one key of both processes'];

const trip = flow({ name: 'trip', description: 'Book a trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const days = await ask.number('days', { message: 'How long?', integer: true, min: 1, alone: true });
  const price = await ask.step('price', async () => days * 10);
  const ok = await ask.confirm('ok', { message: `${city} for ${price}?` });
  return ok ? `${city} ${price}` : 'nothing';
});
const ship = flow({ name: 'ship', description: 'Ship it' }, async (ask) =>
  (await ask.confirm('ship', { message: 'Ship it?', by: 'human' })) ? 'shipped' : 'kept',
);
const login = flow({ name: 'login', description: 'Log in' }, async (ask) => {
  const secret = await ask.text('password', { message: 'Password?', secret: true });
  return ask.step('use', async (step) => `${(await step.reveal(secret)).length} characters`);
});
const load = flow({ name: 'load', description: 'Load a table' }, async (ask) => {
  const file = await ask.file('table', { message: 'Which table?', accept: ['.csv'] });
  return `${file.name} ${file.size}`;
});
const large = flow({ name: 'large', description: 'Asks for much' }, async (ask) => {
  const text = await ask.text('text', { message: 'Text?', alone: true });
  const more = await ask.text('more', { message: `More than ${text.length}?` });
  return `${text.length} ${more}`;
});

const build = flow({ name: 'build', description: 'Build', long: true }, async (ask) => {
  await ask.step('compile', () => sleep(300));
  return (await ask.confirm('publish', { message: 'Publish?' })) ? 'published' : 'built';
});

const survey = flow({ name: 'survey', description: 'Asks 40 things, one by one' }, async (ask) => {
  const said: string[] = [];
  for (let number = 1; number <= 40; number++)
    said.push(await ask.text(`q${number}`, { message: `Question ${number}?`, alone: true }));
  return said.join(' ');
});

const explored = await exploredOf(trip);

async function serving(): Promise<{ server: ParleyServer; url: string }> {
  const server = createServer({ name: 'flows', version: '1', log: QUIET, keys: KEYS });
  serveFlows(server, [trip, ship, login, load, large, build, survey], { keys: KEYS, explored });
  const { url } = await server.listen({ port: 0 });
  return { server, url };
}

type Answers = Record<string, unknown>;

/** A user who fills in forms, and writes down what was asked. */
function filling(answers: Answers, asked: string[] = []): NonNullable<ConnectOptions['onElicit']> {
  return ({ message, ...rest }) => {
    asked.push(message);
    const { properties = {} } = (rest as { requestedSchema?: { properties?: object } }).requestedSchema ?? {};
    const content = Object.fromEntries(Object.keys(properties).map((name) => [name, answers[name]]));
    return { action: 'accept', content: content as Record<string, string> };
  };
}

const ANSWERS = { city: 'Oslo', days: 3, ok: true };

let server: ParleyServer;
let url: string;

beforeAll(async () => {
  ({ server, url } = await serving());
});
afterAll(() => server.close());

describe.each(['2025-06-18', '2025-11-25', '2026-07-28'])('a client of %s', (revision) => {
  test('that shows forms is asked in them', async () => {
    const asked: string[] = [];
    await using client = await connected(url, { revision, onElicit: filling(ANSWERS, asked) });
    expect(await textOf(client, 'trip')).toBe('Oslo 30');
    expect(asked).toEqual(['Where to?', 'How long?', 'Oslo for 30?']);
  });

  test('that gives arguments is not asked for them', async () => {
    const asked: string[] = [];
    await using client = await connected(url, { revision, onElicit: filling(ANSWERS, asked) });
    const { inputSchema } = (await client.listTools()).find(({ name }) => name === 'trip')!;
    expect(Object.keys(inputSchema.properties ?? {})).toEqual(expect.arrayContaining(['city', 'days']));
    expect(await textOf(client, 'trip', { city: 'Rome', days: 2 })).toBe('Rome 20');
    expect(asked).toEqual(['Rome for 20?']);
  });

  test('that answers badly is told why and asked again', async () => {
    const asked: string[] = [];
    const bad = filling({ ...ANSWERS, city: 'X' });
    const good = filling(ANSWERS);
    await using client = await connected(url, {
      revision,
      onElicit: (request, context) => {
        asked.push(request.message);
        return (asked.length === 1 ? bad : good)(request, context);
      },
    });
    expect(await textOf(client, 'trip')).toBe('Oslo 30');
    expect(asked[1]).toMatch(/at least 2.*\nWhere to\?$/s);
  });

  test('that declines a confirmation has said no', async () => {
    await using client = await connected(url, {
      revision,
      onElicit: (request, context) =>
        request.message.includes('for') ? { action: 'decline' } : filling(ANSWERS)(request, context),
    });
    expect(await textOf(client, 'trip')).toBe('nothing');
  });

  test('that cancels ends the session', async () => {
    await using client = await connected(url, { revision, onElicit: () => ({ action: 'cancel' }) });
    const { isError, content } = await client.callTool('trip', {});
    expect({ isError, content }).toMatchObject({
      isError: true,
      content: [{ text: 'trip was cancelled: User cancelled' }],
    });
  });

  test('that cannot be asked: its model passes the answers on', async () => {
    await using client = await connected(url, { revision });
    let { handle } = await held(client, 'trip');
    for (const answer of [{ city: 'Oslo' }, { days: 3 }]) {
      ({ handle } = await held(client, 'parley_answer', { handle, answer }));
    }
    expect(await textOf(client, 'parley_answer', { handle, answer: { ok: true } })).toBe('Oslo 30');
  });

  test('that cannot be asked: its user answers on the page, and what is for a person on the page alone', async () => {
    await using client = await connected(url, { revision });
    const { handle, link, text } = await held(client, 'ship');
    expect(text).toContain('Only the user can answer');
    expect(await textOf(client, 'parley_answer', { handle, answer: { ship: true } })).toContain('not accepted');
    await new FakeBrowser().fill(link, { 'q0.0': 'true' });
    expect(await textOf(client, 'parley_answer', { handle })).toBe('shipped');
  });

  test('is asked for secrets and files by the page, never by its form or its model', async () => {
    const asked: string[] = [];
    await using client = await connected(url, { revision, onElicit: filling({ password: 'wrong' }, asked) });
    const { handle, link } = await held(client, 'login');
    expect(await textOf(client, 'parley_answer', { handle, answer: { password: 'wrong' } })).toContain('not accepted');
    await new FakeBrowser().fill(link, { 'q0.0': 'correct horse' });
    expect(await textOf(client, 'parley_answer', { handle })).toBe('13 characters');
    const file = await held(client, 'load');
    await sendFile(file.link, new File(['a,b\n1,2\n'], 'table.csv', { type: 'text/csv' }));
    expect(await textOf(client, 'parley_answer', { handle: file.handle })).toBe('table.csv 8');
    expect(asked).toEqual([]);
  });

  test('that opens pages is shown the page itself', async () => {
    if (revision === '2025-06-18') return; // it knows no links
    await using client = await connected(url, {
      revision,
      elicitUrls: true,
      async onElicit(request) {
        expect(request.mode).toBe('url');
        await new FakeBrowser().fill((request as { url: string }).url, { 'q0.0': 'correct horse' });
        return { action: 'accept' };
      },
    });
    expect(await textOf(client, 'login')).toBe('13 characters');
  });
});

describe('a call that is ended with its questions', () => {
  const call = async (at: string, name: string, more: Answers = {}) => {
    const { json } = await send(at, modern('tools/call', { name, arguments: {}, ...more }, elicits));
    return ((json as { result?: object }).result ?? json) as unknown as Ended;
  };

  test('continues in another process that has the same keys', async () => {
    const other = await serving();
    const first = await call(url, 'trip');
    expect(first).toMatchObject({ resultType: 'input_required', inputRequests: { city: {} } });
    const second = await call(other.url, 'trip', again(first, 'city', { city: 'Oslo' }));
    await other.server.close();
    const third = await call(url, 'trip', again(second, 'days', { days: 3 }));
    const last = await call(url, 'trip', again(third, 'ok', { ok: true }));
    expect(last).toMatchObject({ content: [{ text: 'Oslo 30' }] });
  });

  test('asks again under another key what was answered badly, and under the same what was not answered', async () => {
    const first = await call(url, 'trip');
    const refused = await call(url, 'trip', again(first, 'city', { city: 'X' }));
    expect(Object.keys(refused.inputRequests)).toEqual(['city~2']);
    const unanswered = await call(url, 'trip', again(refused, 'other', {}));
    expect(Object.keys(unanswered.inputRequests)).toEqual(['city~2']);
    const next = await call(url, 'trip', again(unanswered, 'city~2', { city: 'Oslo' }));
    expect(Object.keys(next.inputRequests)).toEqual(['days']);
  });

  test('is not taken over by another tool or other arguments', async () => {
    const first = await call(url, 'trip');
    for (const other of [{ name: 'ship' }, { arguments: { days: 1 } }]) {
      const refused = await call(url, 'trip', { ...again(first, 'city', { city: 'Oslo' }), ...other });
      expect(refused).toMatchObject({ error: { code: -32602 } });
    }
  });

  test('is kept after all when it has become too large', async () => {
    const first = await call(url, 'large');
    const second = await call(url, 'large', again(first, 'text', { text: randomText(40_000) }));
    expect(second).toMatchObject({ inputRequests: { more: { params: { message: 'More than 40000?' } } } });
    expect(second.requestState.length).toBeLessThan(2000);
    const last = await call(url, 'large', again(second, 'more', { more: 'yes' }));
    expect(last).toMatchObject({ content: [{ text: '40000 yes' }] });
  });
});

test.each(['2025-11-25', '2026-07-28'])(
  'a flow that takes long runs as a task for a client of %s',
  async (revision) => {
    const states: string[] = [];
    await using client = await connected(url, { revision, onElicit: filling({ publish: true }) });
    const options = { task: true, onTask: ({ status }: { status: string }) => void states.push(status) };
    const { content } = await within('the task', client.callTool('build', {}, options));
    expect(content).toMatchObject([{ text: 'published' }]);
    expect(states).toEqual(expect.arrayContaining(['working', 'input_required', 'completed']));
  },
);

test('a flow of 40 rounds ends in a client that takes part in few: it continues by handle', async () => {
  const answers = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`q${index + 1}`, `a${index + 1}`]));
  const asked: string[] = [];
  await using client = await connected(url, { revision: '2026-07-28', onElicit: filling(answers, asked) });
  let next = await held(client, 'survey');
  const native = asked.length;
  expect(next.text).toContain('Question');
  for (let number = native + 1; number <= 40; number++) {
    next = await held(client, 'parley_answer', { handle: next.handle, answer: { [`q${number}`]: `a${number}` } });
  }
  expect(next.text).toBe(Object.values(answers).join(' '));
  expect(native).toBeLessThanOrEqual(10);
});

interface Ended {
  inputRequests: Record<string, unknown>;
  requestState: string;
}

function again({ requestState }: Ended, key: string, content: Answers): Answers {
  return { requestState, inputResponses: { [key]: { action: 'accept', content } } };
}

/** Nothing that could be packed. */
function randomText(length: number): string {
  return Array.from({ length }, () => Math.random().toString(36).at(-1)).join('');
}

async function held(client: Client, name: string, args: Answers = {}) {
  const { content, _meta } = await within(name, client.callTool(name, args));
  const text = content[0]?.type === 'text' ? content[0].text : '';
  return { text, handle: String(_meta?.['mcp-parley/handle']), link: /https?:\S+\/ask\S+/.exec(text)?.[0] ?? '' };
}

async function sendFile(link: string, file: File): Promise<void> {
  const browser = new FakeBrowser();
  const form = new FormData();
  form.set('csrf', csrfOf((await browser.open(link)).text));
  form.set('do', 'accept');
  form.set('q0.0', file);
  await browser.post(link, form);
}
