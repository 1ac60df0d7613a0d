// Somebody who is asked in another's flow, at their own client: over MCP Flow, by forms of handshake clients, and what nobody else may do. All
// clients are wires by hand.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { Ask, PersonNotice } from 'mcp-parley/flow';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { send } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { modern, openSession } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const approval = (ask: Ask) =>
  ask
    .person('ops-lead', { handOver: ['deputy'] })
    .choice('level', [1, 2, 3], { message: 'Which level?', label: 'Level' });
const FORMS = { elicitation: {} };

async function office(body: (ask: Ask) => Promise<unknown> = approval, isBehindGateway = false) {
  const notices: PersonNotice[] = [];
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  const log = createLog({ level: 'silent' });
  const server = createServer({ name: 'ops', version: '1', log, identify });
  const tool = flow({ name: 'release', limits: { duration: '2d' } }, body);
  const sessions = serveFlows(server, [tool], { notify: (notice) => void notices.push(notice) });
  const front = isBehindGateway ? createGateway({ servers: { ops: server }, log, identify }) : server;
  const { url } = await front.listen({ port: 0 });
  closing.push(() => front.close());
  const client = async (user: string, capabilities: Json = {}, revision = '2025-11-25') => {
    const { wire, socket } = await socketWire(Number(new URL(url).port), user === '' ? {} : { 'x-user': user });
    closing.push(() => socket.close());
    await wire.initialize(revision, capabilities);
    return wire;
  };
  /** Starts it over MCP Flow. */
  const started = async (wire: Wire) => {
    const { result } = await wire.request('interaction.start', { toolName: 'release' });
    return result!.sessionId as string;
  };
  return { url, notices, sessions, client, started };
}

const asked = (wire: Wire, method: string, nth = 0): Promise<Answer> =>
  until(`${method} ${nth}`, () => wire.messages.filter((one) => one.method === method)[nth]);
const reply = (wire: Wire, { id }: Answer, result: Json): void => wire.write({ jsonrpc: '2.0', id, result });
const accept = (wire: Wire, form: Answer, content: Json): void => reply(wire, form, { action: 'accept', content });

describe('the person who is asked, over MCP Flow', () => {
  test.each([false, true])(
    'gets interaction.prompt and answers; the caller is told whom it waits for (gateway: %s)',
    async (isBehind) => {
      const { client, started } = await office(approval, isBehind);
      const [ada, lead] = [
        await client('ada'),
        await client('ops-lead', { experimental: { mcpFlow: { interactive: true } } }),
      ];
      const sessionId = await started(ada);
      const waiting = await asked(ada, 'interaction.waiting');
      expect(waiting.params).toEqual({ sessionId, waitingFor: [{ kind: 'person', person: 'ops-lead' }] });
      const { params } = await asked(lead, 'interaction.prompt');
      expect(params).toMatchObject({ prompt: { promptId: 'level~1', message: 'Which level?' } });
      const { sessionId: theirs } = params!; // a gateway gives everybody names of their own
      const wrong = await lead.request('interaction.respond', { sessionId: theirs, response: { value: 9 } });
      expect(wrong.result).toMatchObject({ accepted: false });
      expect((await asked(lead, 'interaction.prompt', 1)).params).toMatchObject({ prompt: { promptId: 'level~2' } });
      const { result } = await lead.request('interaction.respond', { sessionId: theirs, response: { value: 2 } });
      expect(result).toEqual({ accepted: true, validation: { valid: true } });
      expect((await asked(ada, 'interaction.complete')).params).toMatchObject({ sessionId, result: { data: 2 } });
    },
  );

  test('is the only one for whom there is such a session, beside the caller, who cannot answer', async () => {
    const { client, started, url } = await office();
    const [ada, eve, nobody] = [await client('ada'), await client('eve'), await client('')];
    const sessionId = await started(ada);
    await asked(ada, 'interaction.waiting');
    const answer = { sessionId, promptId: 'level~1', response: { value: 3 } };
    const own = await ada.request('interaction.respond', answer);
    expect(own.error).toMatchObject({ code: -32003 });
    const absent = { ...answer, sessionId: `session_${'A'.repeat(22)}` };
    const hand = { sessionId, promptId: 'level~1', to: 'eve' };
    for (const wire of [eve, nobody]) {
      const [foreign, unknown] = [
        await wire.request('interaction.respond', answer),
        await wire.request('interaction.respond', absent),
      ];
      expect(foreign.error!.code).toBe(-32001);
      expect(JSON.stringify(foreign.error).replaceAll(sessionId, '')).toBe(
        JSON.stringify(unknown.error).replaceAll(absent.sessionId, ''),
      );
      expect((await wire.request('interaction.handOver', hand)).error!.code).toBe(-32001);
    }
    const stateless = modern('interaction.respond', answer);
    const { json } = await send(url, { ...stateless, headers: { ...stateless.headers, 'x-user': 'eve' } });
    expect(json.error!.code).toBe(-31001);
    expect((await ada.request('interaction.handOver', hand)).error!.code).toBe(-32003);
    expect([...eve.messages, ...nobody.messages].filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test('hands it over: their other client is told, the next person is asked, and what comes late is refused', async () => {
    const { client, started } = await office();
    const native = { experimental: { mcpFlow: { interactive: true } } };
    const [ada, lead, phone, deputy] = [
      await client('ada'),
      await client('ops-lead', native),
      await client('ops-lead', native),
      await client('deputy', native),
    ];
    const sessionId = await started(ada);
    await asked(phone, 'interaction.prompt');
    await asked(lead, 'interaction.prompt');
    const hand = { sessionId, promptId: 'level~1', to: 'deputy' };
    expect((await lead.request('interaction.handOver', hand)).result).toEqual({ handedOver: true });
    expect((await asked(phone, 'interaction.withdrawn')).params).toMatchObject({ sessionId, promptId: 'level~1' });
    expect((await asked(deputy, 'interaction.prompt')).params).toMatchObject({ prompt: { promptId: 'level~1' } });
    expect((await asked(ada, 'interaction.waiting', 1)).params).toMatchObject({
      waitingFor: [{ kind: 'person', person: 'deputy' }],
    });
    const late = { sessionId, promptId: 'level~1', response: { value: 1 } };
    expect((await phone.request('interaction.respond', late)).error!.code).toBe(-32001);
    await deputy.request('interaction.respond', { ...late, response: { value: 3 } });
    expect((await asked(ada, 'interaction.complete')).params).toMatchObject({ result: { data: 3 } });
  });

  test.each([false, true])(
    'hands it to nobody whom the flow does not name, and never to the caller (gateway: %s)',
    async (isBehind) => {
      const { client, started } = await office(approval, isBehind);
      const native = { experimental: { mcpFlow: { interactive: true } } };
      const [ada, lead] = [await client('ada', native), await client('ops-lead', native)];
      const own = await started(ada);
      const { sessionId } = (await asked(lead, 'interaction.prompt')).params!;
      for (const to of ['ada', 'eve', 'ops-lead']) {
        const hand = { sessionId, promptId: 'level~1', to };
        expect((await lead.request('interaction.handOver', hand)).error?.code, to).toBe(-32003);
      }
      const answer = { sessionId: own, promptId: 'level~1', response: { value: 1 } };
      expect((await ada.request('interaction.respond', answer)).error?.code).toBe(-32003);
    },
  );

  test('is asked when they connect while it waits, and one over 2026-07-28 reads the question with its id', async () => {
    const { client, started, url } = await office();
    const ada = await client('ada');
    const sessionId = await started(ada);
    await asked(ada, 'interaction.waiting');
    const lead = await client('ops-lead');
    await asked(lead, 'interaction.prompt');
    const as = async (method: string, params: Json) => {
      const request = modern(method, params);
      return (await send(url, { ...request, headers: { ...request.headers, 'x-user': 'ops-lead' } })).json;
    };
    expect((await as('interaction.getState', { sessionId })).result).toMatchObject({
      currentPrompt: { promptId: 'level~1' },
      history: [],
    });
    const wrong = { sessionId, promptId: 'level~1', response: { value: 9 } };
    expect((await as('interaction.respond', wrong)).result).toMatchObject({
      accepted: false,
      next: { method: 'interaction.prompt', prompt: { promptId: 'level~2' } },
    });
    expect(
      (await as('interaction.respond', { ...wrong, promptId: 'level~2', response: { value: 1 } })).result,
    ).toMatchObject({
      accepted: true,
    });
  });
});

test.each([
  ['interaction.prompt', { experimental: { mcpFlow: { interactive: true } } }],
  ['elicitation/create', FORMS],
])(
  'a person who is asked two things at once is asked the second when the first is answered (%s)',
  async (method, capabilities) => {
    const { client, started } = await office(async (ask) => {
      const lead = ask.person('ops-lead');
      return Promise.all([
        lead.text('first', { message: 'The first?' }),
        lead.text('second', { message: 'The second?' }),
      ]);
    });
    const [ada, lead] = [await client('ada'), await client('ops-lead', capabilities)];
    const sessionId = await started(ada);
    for (const [nth, key] of ['first', 'second'].entries()) {
      const question = await asked(lead, method, nth);
      expect(JSON.stringify(question.params)).toContain(`The ${key}?`);
      if (method === 'elicitation/create') accept(lead, question, { [key]: key });
      else await lead.request('interaction.respond', { sessionId, promptId: `${key}~1`, response: { value: key } });
    }
    const { params } = await asked(ada, 'interaction.complete');
    expect(params).toMatchObject({ result: { data: ['first', 'second'] } });
  },
);

describe('the person who is asked, by forms', () => {
  test.each([
    ['2025-06-18', false],
    ['2025-11-25', false],
    ['2025-11-25', true],
  ] as const)(
    'is shown one by their own client, and the call of the caller returns (%s, gateway: %s)',
    async (revision, isBehind) => {
      const { client } = await office(approval, isBehind);
      const [ada, lead] = [await client('ada'), await client('ops-lead', FORMS, revision)];
      const called = ada.call('release');
      const form = await asked(lead, 'elicitation/create');
      expect(form.params).toMatchObject({
        message: 'The tool release, which another person called, asks you as ops-lead.\nWhich level?',
        requestedSchema: { required: ['level'] },
      });
      accept(lead, form, { level: '2' });
      expect((await called).result!.content).toMatchObject([{ text: '2' }]);
      expect(ada.messages.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
    },
  );

  test('over HTTP is shown it as soon as their client opens its stream', async () => {
    const { client, url, notices } = await office();
    const session = await openSession(url, { headers: { 'x-user': 'ops-lead' }, capabilities: FORMS });
    const ada = await client('ada');
    const called = ada.call('release');
    await until('the notice', () => notices.length === 1);
    const stream = await session.stream();
    await stream.until('the form', ({ messages }) => messages.some(({ method }) => method === 'elicitation/create'));
    const { id } = stream.messages.find(({ method }) => method === 'elicitation/create')!;
    await session.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { level: '3' } } });
    expect((await called).result!.content).toMatchObject([{ text: '3' }]);
    stream.close();
  });

  test('is shown them one at a time, and never those of another person', async () => {
    const who = async (ask: Ask) => {
      const person = await ask.text('person');
      return `${person}: ${await ask.person(person).text('word', { message: `A word, ${person}?` })}`;
    };
    const { client } = await office(who);
    const [lead, cto] = [await client('ops-lead', FORMS), await client('cto', FORMS)];
    const callers = [await client('ada'), await client('bob'), await client('cem')];
    const people = ['ops-lead', 'cto', 'ops-lead'];
    const called = callers.map((wire, index) => wire.call('release', { person: people[index]! }));
    const [first, theirs] = [await asked(lead, 'elicitation/create'), await asked(cto, 'elicitation/create')];
    expect(theirs.params!.message).toContain('A word, cto?');
    expect(lead.messages.filter(({ method }) => method === 'elicitation/create')).toHaveLength(1);
    accept(lead, first, { word: 'one' });
    accept(lead, await asked(lead, 'elicitation/create', 1), { word: 'two' });
    accept(cto, theirs, { word: 'three' });
    const texts = (await Promise.all(called)).map(({ result }) => result!.content![0]!.text);
    expect(texts[1]).toBe('cto: three');
    expect(new Set([texts[0], texts[2]])).toEqual(new Set(['ops-lead: one', 'ops-lead: two']));
  });

  test('has it taken away when it is answered elsewhere, handed over, or called off', async () => {
    const { client, started, sessions } = await office();
    const [ada, lead] = [await client('ada'), await client('ops-lead', FORMS)];
    const withdrawn = async (nth: number, act: (sessionId: string) => Promise<unknown>) => {
      const sessionId = await started(ada);
      const form = await asked(lead, 'elicitation/create', nth);
      await act(sessionId);
      const told = await asked(lead, 'notifications/cancelled', nth);
      expect(told.params).toMatchObject({ requestId: form.id });
      return form;
    };
    const ids = { principal: 'ops-lead', promptId: 'level~1' };
    await withdrawn(0, (sessionId) =>
      sessions.answer({ ...ids, sessionId, answers: [{ promptId: 'level~1', value: 1 }] }),
    );
    await withdrawn(1, (sessionId) => ada.request('interaction.cancel', { sessionId }));
    await withdrawn(2, async (sessionId) => {
      await sessions.handOver({ ...ids, sessionId, to: 'deputy' });
      await sessions.sweep();
    });
  });

  test('has not answered by closing it, nor by a client that declines at once: the question stays open', async () => {
    const { client, started, sessions } = await office();
    const ada = await client('ada');
    const sessionId = await started(ada);
    for (const action of ['cancel', 'decline']) {
      const lead = await client('ops-lead', FORMS);
      reply(lead, await asked(lead, 'elicitation/create'), { action });
      await lead.request('ping');
    }
    const lead = await client('ops-lead', FORMS);
    accept(lead, await asked(lead, 'elicitation/create'), {});
    await lead.request('ping');
    const answers = [{ promptId: 'level~1', value: 3 }];
    await sessions.answer({ principal: 'ops-lead', sessionId, answers });
    expect((await asked(ada, 'interaction.complete')).params).toMatchObject({ result: { data: 3 } });
  });

  test('is not shown one for a secret: that is for the page', async () => {
    const { client, notices } = await office((ask) => ask.person('ops-lead').text('key', { secret: true }));
    const [ada, lead] = [await client('ada'), await client('ops-lead', FORMS)];
    ada.call('release').catch(() => {});
    await until('the notice', () => notices.length === 1);
    await lead.request('ping');
    expect(lead.messages.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
    expect(notices[0]!.link).toContain('/person?t=');
  });
});
