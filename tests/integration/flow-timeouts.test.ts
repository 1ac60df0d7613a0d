// A time-out means the same however its question was put: the table of docs/evidence/flows.md is what happens here, over real sockets, with a clock
// that the test moves.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway, ParleyServer } from 'mcp-parley';
import { connectFlows, flow, serveFlows } from 'mcp-parley/flow';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { csrfOf, FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { ROOT } from '../helpers/files.ts';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { elicits, modern, rpc } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const clock = manualClock();
const SECOND = 1000;

/** How each question's time ends; after it another one is asked, so that it shows whether the client is still talked to. */
const OUTCOMES = ['default', 'error', 'cancel', 'session'] as const;
type Outcome = (typeof OUTCOMES)[number];

const asked = (name: Outcome, isLong: boolean) => {
  const about = { limits: { duration: '1h' }, ...(name === 'session' && { timeout: '2s' as const }) } as const;
  return flow({ name: isLong ? `long-${name}` : name, long: isLong, ...about }, async (ask) => {
    if (isLong) await ask.step('prepare', () => prepared);
    const time = name === 'session' ? {} : ({ timeout: '2s', onTimeout: name } as const);
    const question = ask.text('channel', { message: 'Which channel?', alone: true, default: 'slack', ...time });
    const channel = await ask.try(question);
    const said = channel.ok ? channel.value : channel.reason;
    const go = await ask.text('name', { message: 'Who?', alone: true });
    return `${said}, ${go}`;
  });
};
/** What long flows wait for, so that their calls are tasks before they ask. */
let prepared: Promise<string>;
let goOn: (ready: string) => void;
const hold = () => void (prepared = new Promise((resolve) => (goOn = resolve)));
const FLOWS = OUTCOMES.flatMap((name) => [asked(name, false), asked(name, true)]);

let server: ParleyServer;
let gateway: Gateway;
const ports = { directly: 0, 'through a gateway': 0 };

beforeAll(async () => {
  server = createServer({ name: 'times', version: '1', log: createLog({ level: 'silent' }), taskGraceMs: 1 });
  serveFlows(server, FLOWS, { clock });
  const { url } = await server.listen({ port: 0 });
  gateway = createGateway({ servers: { times: { url } }, log: createLog({ level: 'silent' }) });
  ports.directly = Number(new URL(url).port);
  ports['through a gateway'] = Number(new URL((await gateway.listen({ port: 0 })).url).port);
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const textOf = ({ result, error }: Answer) =>
  error?.message ?? result?.content?.map(({ text }) => text).join('\n') ?? '';

/** The request of a client that shows forms, does not answer the first in time, and answers the next. */
async function withForms(
  wire: Awaited<ReturnType<typeof socketWire>>['wire'],
  request: ReturnType<typeof rpc>,
): Promise<string[]> {
  wire.write(request);
  const form = await wire.find('the form', ({ method }) => method === 'elicitation/create');
  clock.move(3 * SECOND);
  await wire.find(
    'the withdrawal of the form',
    ({ method, params }) => method === 'notifications/cancelled' && params?.requestId === form.id,
  );
  const seen = ['its form is withdrawn'];
  const isEnd = ({ id, method }: Answer) => id === request.id && method === undefined;
  const next = await wire.find('what follows', (message) => {
    return isEnd(message) || (message.method === 'elicitation/create' && message.id !== form.id);
  });
  if (next.method) {
    seen.push('is asked the next question');
    wire.write({ jsonrpc: '2.0', id: next.id, result: { action: 'accept', content: { name: 'Ada' } } });
  }
  return [...seen, textOf(await wire.find('the end', isEnd))];
}

/** Plays a flow whose first question is never answered in time, and says what the client sees. */
const CHANNELS: Record<string, (name: Outcome, port: number) => Promise<string[]>> = {
  'MCP Flow': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize();
    const { result } = await wire.request('interaction.start', { toolName: name });
    clock.move(3 * SECOND);
    const told = await wire.find(
      'what follows',
      ({ method, params }) => method === 'interaction.ended' || JSON.stringify(params ?? {}).includes('Who?'),
    );
    const seen: string[] = [];
    let last = told;
    if (told.method === 'interaction.prompt') {
      seen.push('is asked the next question');
      await wire.request('interaction.respond', { sessionId: result!.sessionId, response: { value: 'Ada' } });
      last = await wire.find('the end', ({ method }) => method === 'interaction.complete');
    }
    socket.close();
    const { result: end } = last.params as {
      result: { success: boolean; data?: unknown; error?: { message: string } };
    };
    return [...seen, String(end.success ? end.data : end.error?.message)];
  },

  'forms (elicitation)': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize('2025-11-25', { elicitation: {} });
    const call = rpc('tools/call', { name, arguments: {} });
    const seen = await withForms(wire, call);
    socket.close();
    return seen;
  },

  'input_required (2026-07-28)': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    const ask = async (more: Json) => {
      const { body } = modern('tools/call', { name, arguments: {}, ...more }, elicits);
      wire.write(body);
      return wire.answerTo(body.id);
    };
    const first = await ask({});
    const answering = ({ result }: Answer, content: Json) => ({
      requestState: result!.requestState,
      inputResponses: Object.fromEntries(
        Object.keys(result!.inputRequests as Json).map((key) => [key, { action: 'accept', content }]),
      ),
    });
    clock.move(3 * SECOND);
    const next = await ask(answering(first, { channel: 'too late' }));
    if (next.result?.resultType !== 'input_required') {
      socket.close();
      return [textOf(next)];
    }
    expect(JSON.stringify(next.result.inputRequests)).toContain('Who?');
    const end = await ask(answering(next, { name: 'Ada' }));
    socket.close();
    return ['is asked the next question', textOf(end)];
  },

  'a link to our page': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize('2025-11-25', { elicitation: { url: {} } });
    const call = rpc('tools/call', { name, arguments: {} });
    wire.write(call);
    const isLink = ({ method, params }: Answer) => method === 'elicitation/create' && params?.mode === 'url';
    const link = await wire.find('the link', isLink);
    const browser = new FakeBrowser();
    const url = String((link.params as Json).url);
    const { text: page } = await browser.open(url);
    wire.write({ jsonrpc: '2.0', id: link.id, result: { action: 'accept' } });
    clock.move(3 * SECOND);
    const isEnd = ({ id, method }: Answer) => id === call.id && method === undefined;
    const next = await wire.find(
      'what follows',
      (message) => isEnd(message) || (isLink(message) && message.id !== link.id),
    );
    const late = await browser.post(url, { csrf: csrfOf(page), do: 'accept', 'q0.0': 'too late' });
    expect(late.text).toContain('Nothing has been sent now');
    const seen = ['the page is closed'];
    if (next.method) {
      seen.push('is asked the next question');
      wire.write({ jsonrpc: '2.0', id: next.id, result: { action: 'accept' } });
      await new FakeBrowser().fill(String((next.params as Json).url), { 'q0.0': 'Ada' });
    }
    const end = await wire.find('the end', isEnd);
    socket.close();
    return [...seen, textOf(end)];
  },

  'a task (2025-11-25)': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize('2025-11-25', { elicitation: {} });
    hold();
    const { result } = await wire.request('tools/call', { name: `long-${name}`, arguments: {}, task: {} });
    goOn('ready');
    const { taskId } = result!.task as { taskId: string };
    const fetched = rpc('tasks/result', { taskId });
    const seen = await withForms(wire, fetched);
    socket.close();
    return seen;
  },

  'a task (2026-07-28)': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    const able = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const request = async (method: string, params: Json) => {
      const meta = { 'io.modelcontextprotocol/clientCapabilities': able };
      const { body } = modern(method, params, meta);
      wire.write(body);
      return wire.answerTo(body.id);
    };
    hold();
    const { result } = await request('tools/call', { name: `long-${name}`, arguments: {} });
    goOn('ready');
    const taskId = result!.taskId;
    const state = async () => (await request('tasks/get', { taskId })).result! as Json & { status: string };
    const asked = (words: string) =>
      until(words, async () => {
        const now = await state();
        return now.status === 'input_required' && JSON.stringify(now).includes(words) ? now : undefined;
      });
    const first = await asked('Which channel?');
    const keyOf = ({ inputRequests }: Json) => Object.keys(inputRequests as Json)[0]!;
    const answer = (key: string, content: Json) =>
      request('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content } } });
    clock.move(3 * SECOND);
    const next = await until('what follows', async () => {
      const now = await state();
      return now.status === 'input_required' && keyOf(now) === keyOf(first) ? undefined : now;
    });
    await answer(keyOf(first), { channel: 'too late' });
    const seen = ['its form is withdrawn'];
    if (next.status === 'input_required' || next.status === 'working') {
      seen.push('is asked the next question');
      await answer(keyOf(await asked('Who?')), { name: 'Ada' });
    }
    const end = await until('the end', async () => {
      const now = await state();
      return now.status === 'completed' ? now : undefined;
    });
    socket.close();
    return [...seen, textOf(end as unknown as Answer)];
  },

  'words (parley_answer)': async (name, port) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize();
    const handleOf = (answer: Answer) => /"handle":"([^"]+)"/.exec(textOf(answer))?.[1] ?? '';
    const answer = (handle: string, given: Json) => wire.call('parley_answer', { handle, answer: given });
    const before = Date.now();
    const asked = await wire.call(name);
    const [, waitsUntil = ''] = /It waits until (\S+Z)\./.exec(textOf(asked)) ?? [];
    expect(Date.parse(waitsUntil) - 2 * SECOND).toBeGreaterThanOrEqual(before);
    // A gateway in between does not know how long the question of a server waits.
    if (port === ports.directly) expect(Date.parse(waitsUntil) - 2 * SECOND).toBeLessThanOrEqual(Date.now());
    const link = /https?:\/\/\S+\/ask\?\S+/.exec(textOf(asked))![0];
    const browser = new FakeBrowser();
    const { text: page } = await browser.open(link);
    clock.move(3 * SECOND);
    await until('the page to close', async () => !(await browser.get(link)).text.includes('name="csrf"'));
    const sent = await browser.post(link, { csrf: csrfOf(page), do: 'accept', 'q0.0': 'too late' });
    expect(sent.text).toContain('Nothing has been sent now');
    const late = await answer(handleOf(asked), { channel: 'too late' });
    const end = textOf(late).includes('Who?') ? await answer(handleOf(late), { name: 'Ada' }) : undefined;
    socket.close();
    return ['the page is closed', ...(end ? ['is asked the next question', textOf(end)] : [textOf(late)])];
  },
};

/** What the author was given in the place of an answer. */
const WORDS: Record<Outcome, RegExp> = {
  default: /^slack, Ada$/,
  error: /^timeout, Ada$/,
  cancel: /^(long-)?cancel was cancelled(: A question was not answered in time)?$/,
  session: /^Session expired/,
};
const HEADS = {
  default: "`onTimeout: 'default'`",
  error: "`onTimeout: 'error'`",
  cancel: "`onTimeout: 'cancel'`",
  session: 'the session',
};

async function rowsOf(port: number): Promise<string[]> {
  const rows: string[] = [];
  for (const [channel, play] of Object.entries(CHANNELS)) {
    const cells: string[] = [];
    for (const outcome of OUTCOMES) {
      const seen = await play(outcome, port);
      expect(seen.at(-1), `${channel}, ${outcome}`).toMatch(WORDS[outcome]);
      cells.push(toCell(seen.slice(0, -1), outcome));
    }
    rows.push(`| ${[channel, ...cells].join(' | ')} |`);
  }
  return rows;
}

test.each(['directly', 'through a gateway'] as const)(
  'a time-out means the same in every channel, as the table of docs/evidence/flows.md says, %s',
  async (way) => {
    const heads = ['asked by', ...OUTCOMES.map((outcome) => HEADS[outcome])];
    const rows = await rowsOf(ports[way]);
    const table = [`| ${heads.join(' | ')} |`, `|${' --- |'.repeat(heads.length)}`, ...rows].join('\n');
    const docs = readFileSync(join(ROOT, 'docs', 'evidence', 'flows.md'), 'utf8');
    const [, written = ''] = /<!-- table: time-outs -->\n+(.*?)\n+<!-- end of table -->/s.exec(docs) ?? [];
    expect(written.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')).toBe(table);
  },
);

test.each(OUTCOMES)('a program that uses connectFlows learns of a timeout: %s', async (name) => {
  await using client = await connectFlows(`ws://127.0.0.1:${ports.directly}/ws`, {
    log: createLog({ level: 'silent' }),
    revision: '2025-11-25',
  });
  const feedback: string[] = [];
  const withdrawn: string[] = [];
  const outcome = await client.run(
    name,
    {},
    {
      onFeedback: (text) => void feedback.push(text),
      onPrompt({ message }, { signal }) {
        if (message === 'Who?') return 'Ada';
        setImmediate(() => clock.move(3 * SECOND));
        return new Promise((resolve) => {
          signal!.addEventListener('abort', () => (withdrawn.push(message), resolve('too late')));
        });
      },
    },
  );
  // A session whose time is over is started again, once if its user has not answered.
  const isOver = name === 'session';
  expect(withdrawn).toEqual(isOver ? ['Which channel?', 'Which channel?'] : ['Which channel?']);
  const said = outcome.success ? String(outcome.result) : (outcome.error as Error).message;
  expect(said).toMatch(WORDS[name]);
  if (isOver) expect(feedback.slice(1)).toEqual(['The session has expired; it starts over.', said]);
  else expect(feedback).toEqual([outcome.success ? 'The question was not answered in time.' : said]);
});

test('a late answer of a client that cannot be told things is not taken, and it is asked the next question', async () => {
  await using client = await connectFlows(`ws://127.0.0.1:${ports.directly}/ws`, {
    log: createLog({ level: 'silent' }),
    revision: '2026-07-28',
  });
  const onPrompt = ({ message }: { message: string }) => {
    if (message === 'Which channel?') clock.move(3 * SECOND);
    return message === 'Who?' ? 'Ada' : 'too late';
  };
  expect(await client.run('default', {}, { onPrompt })).toMatchObject({ success: true, result: 'slack, Ada' });
});

function toCell(before: string[], outcome: Outcome): string {
  const end = {
    default: 'the default counts',
    error: 'the body is told',
    cancel: 'is told that it was cancelled',
    session: 'is told that it expired',
  };
  return [...before, end[outcome]].join(', ');
}
