// What the audit log says about calls whose first answer is not their result: held for a person, returned with questions, run as tasks, played.
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway, GatewayOptions } from 'mcp-parley';
import { respond } from 'mcp-parley/middleware';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { toSuspended } from '../../src/kernel/target.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { openSession } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const RULES = [{ tool: 'wipe', effect: 'ask' }] as const;
const open: Gateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

async function audited(options: Partial<GatewayOptions> = {}) {
  const [events, links, ran]: [AuditEvent[], string[], string[]] = [[], [], []];
  const desk = createServer({ name: 'desk', version: '1', log });
  desk.tool('wipe', {}, () => {
    ran.push('wipe');
    return { content: [{ type: 'text', text: 'no disk' }], isError: true };
  });
  desk.tool('book', {}, async (_, call) => {
    const { action } = await call.ask.elicit({ message: 'Really?', schema: { ok: { type: 'boolean' } } });
    return { content: [{ type: 'text', text: action }], isError: action !== 'accept' };
  });
  desk.tool('job', { task: 'optional' }, async () => {
    await until('its event', () => events.some(({ name }) => name === 'job'));
    return 'done';
  });
  const gateway = createGateway({
    servers: { desk },
    ask: { notify: ({ link }) => void links.push(link) },
    log,
    audit: (event) => void events.push(event),
    ...options,
  });
  open.push(gateway);
  const { url } = await gateway.listen({ port: 0 });
  const press = async (value: 'true' | 'false'): Promise<void> => {
    const link = await until('the link', () => links[0]);
    const browser = new FakeBrowser();
    await browser.post(link, { do: 'pair', code: (await gateway.pair()).code });
    await browser.fill(link, { 'q0.0': value });
  };
  const named = (name: string): AuditEvent[] => events.filter((event) => event.name === name);
  return { url, events, named, press, ran };
}

test.each(['2025-11-25', '2026-07-28'])(
  'a call that waits for a person is recorded when it has run, with what became of it (%s)',
  async (revision) => {
    const { url, events, named, press, ran } = await audited({ rules: RULES });
    await using client = await connected(url, { revision });
    expect(await textOf(client, 'wipe')).toContain('A person has been asked');
    expect(events).toEqual([]);
    await press('true');
    await until('the call', () => named('wipe').length === 2 || undefined);
    expect(ran).toEqual(['wipe']);
    const decision = { rule: 'rules[0]', effect: 'ask' };
    expect(named('wipe')).toMatchObject([
      { kind: 'approval', outcome: 'given' },
      { kind: 'call', outcome: 'tool_error', server: 'desk', decision, ms: expect.any(Number) },
    ]);
    const [approval, call] = named('wipe');
    expect(call!.exchange).toBe(approval!.exchange);
  },
);

test('a call that a person refuses never says ok, and fetching its end is recorded as such', async () => {
  const { url, events, named, press, ran } = await audited({ rules: RULES });
  await using client = await connected(url, { revision: '2025-11-25' });
  const asked = (await client.callTool('wipe')) as { _meta?: Record<string, string> };
  await press('false');
  await textOf(client, 'parley_answer', { handle: asked._meta!['mcp-parley/handle'] });
  await until('both calls', () => named('parley_answer')[0]);
  expect(ran).toEqual([]);
  expect(named('wipe')).toMatchObject([
    { kind: 'approval', outcome: 'refused' },
    { kind: 'call', outcome: 'declined', decision: { effect: 'ask' } },
  ]);
  expect(events.at(-1)).toMatchObject({ kind: 'call', name: 'parley_answer', outcome: 'declined' });
});

test('a call that returns questions is recorded as such, and with its result when it is repeated', async () => {
  const questions = {
    q: {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
    },
  };
  const { url, named } = await audited({
    steps: [
      (exchange, next) =>
        exchange.method === 'tools/call' && !exchange.resumed
          ? respond(toSuspended({ questions, state: undefined }))
          : next(),
    ],
  });
  await using client = await connected(url, {
    revision: '2026-07-28',
    onElicit: () => ({ action: 'accept', content: {} }),
  });
  await client.callTool('wipe');
  await until('both requests', () => named('wipe').length === 2 || undefined);
  expect(named('wipe').map(({ outcome }) => outcome)).toEqual(['input_required', 'tool_error']);
});

test.each(['2025-11-25', '2026-07-28'])(
  'a call that asks in the client is recorded once, at its end (%s)',
  async (revision) => {
    const { url, events, named } = await audited();
    const seen: number[] = [];
    await using client = await connected(url, {
      revision,
      onElicit: () => {
        seen.push(events.length);
        return { action: 'decline' };
      },
    });
    await client.callTool('book');
    await until('the call', () => named('book')[0]);
    expect(seen).toEqual([0]);
    expect(named('book').map(({ outcome }) => outcome)).toEqual(['tool_error']);
  },
);

test('a call that is played as a session is recorded when it has ended', async () => {
  const { url, events, named } = await audited();
  const session = await openSession(url);
  const { json } = await session.request('interaction.start', { toolName: 'wipe' });
  expect(json).toMatchObject({ result: { sessionId: expect.any(String) } });
  await until('the call', () => named('wipe')[0]);
  expect(events).toMatchObject([{ method: 'interaction.start', server: 'desk', outcome: 'tool_error' }]);
});

test.each(['2025-11-25', '2026-07-28'])('a call that becomes a task is recorded as working (%s)', async (revision) => {
  const { url, named } = await audited();
  await using client = await connected(url, { revision });
  await client.callTool('job', {}, { task: true });
  await until('the call', () => named('job')[0]);
  expect(named('job')).toMatchObject([{ outcome: 'working' }]);
});
