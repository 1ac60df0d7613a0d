// A call that is gone while the server lives: its connection broke, or its client cancelled it. The next call of the same user is offered its session.
import { afterEach, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { PersonNotice } from 'mcp-parley/flow';
import { connected } from '../helpers/fixture-server.ts';
import { openStream, send } from '../helpers/http-wire.ts';
import type { Json, Stream } from '../helpers/http-wire.ts';
import { until, within } from '../helpers/until.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const release = flow({ name: 'release', limits: { duration: '2d' } }, async (ask) => {
  const version = await ask.text('version', { message: 'Which version?', alone: true });
  const note = await ask.text('note', { message: 'What is new?', alone: true });
  return `${version} ${note} ${await ask.person('boss').confirm('approve')}`;
});

async function office() {
  const notices: PersonNotice[] = [];
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  const log = createLog({ level: 'silent' });
  const server = createServer({ name: 'ops', version: '1', log, identify });
  const sessions = serveFlows(server, [release], { notify: (notice) => void notices.push(notice) });
  const { url } = await server.listen({ port: 0 });
  closing.push(() => server.close());
  const approve = async () => {
    const { sessionId, promptId } = await until('the notice', () => notices[0]);
    await sessions.answer({ principal: 'boss', sessionId, answers: [{ promptId, value: true }] });
  };
  return { url, sessions, approve, notices };
}

/** A client that says nothing when it goes. */
class Raw {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  stream!: Stream;

  private constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  static async open(url: string): Promise<Raw> {
    const headers: Record<string, string> = { 'x-user': 'ada' };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'raw', version: '1' },
    };
    const reply = await send(url, { headers, body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
    const raw = new Raw(url, { ...headers, 'mcp-session-id': String(reply.headers['mcp-session-id']) });
    await raw.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return raw;
  }

  post(body: Json) {
    return send(this.#url, { headers: this.#headers, body });
  }

  /** Answers the first questions in turn. */
  async call(...answers: Json[]): Promise<void> {
    const params = { name: 'release', arguments: {} };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    this.stream = await openStream(this.#url, { method: 'POST', headers: this.#headers, body });
    for (const [index, content] of answers.entries()) {
      const id = await this.#asked(index + 1);
      await this.post({ jsonrpc: '2.0', id, result: { action: 'accept', content } });
    }
  }

  async #asked(count: number): Promise<unknown> {
    const questions = () => this.stream.messages.filter(({ method }) => method === 'elicitation/create');
    await this.stream.until(`question ${count}`, () => questions().length >= count);
    return questions()[count - 1]!.id;
  }

  asked(count: number): Promise<unknown> {
    return this.#asked(count);
  }
}

/** Takes what it is offered. */
async function again(url: string, ...answers: Json[]) {
  const asked: string[] = [];
  const client = await connected(
    { url, headers: { 'x-user': 'ada' } },
    {
      revision: '2025-11-25',
      onElicit: ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: ([{ resume: true }, ...answers][asked.length - 1] ?? {}) as never };
      },
    },
  );
  closing.push(() => client.close());
  const called = client.callTool('release', {});
  called.catch(() => {}); // where the test has ended before
  await until('a question', () => asked.length > 0);
  return { asked, called };
}

describe('a call that is gone while the server lives', () => {
  test('is found again at once where its connection broke at a question', async () => {
    const { url, approve } = await office();
    const raw = await Raw.open(url);
    await raw.call({ version: '1.0' });
    await raw.asked(2);
    raw.stream.close();
    const { asked, called } = await again(url, { note: 'all' });
    expect(asked[0]).toBe('You started this before and answered one question. The next question is: What is new?');
    await approve();
    expect((await within('the result', called)).content).toMatchObject([{ text: '1.0 all true' }]);
  });

  test('is found again at once if its connection broke while it waited for another person', async () => {
    const { url, approve, notices } = await office();
    const raw = await Raw.open(url);
    await raw.call({ version: '1.0' }, { note: 'all' });
    await until('the notice', () => notices.length === 1);
    raw.stream.close();
    const { asked, called } = await again(url);
    expect(asked[0]).toBe('You started this before and answered 2 questions. Waiting for boss.');
    await approve();
    expect((await within('the result', called)).content).toMatchObject([{ text: '1.0 all true' }]);
    expect(notices).toHaveLength(1);
  });

  test('is found again by the client that cancelled it while it waited for another person', async () => {
    const { url, approve, notices } = await office();
    const raw = await Raw.open(url);
    await raw.call({ version: '1.0' }, { note: 'all' });
    await until('the notice', () => notices.length === 1);
    await raw.post({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'timed out' },
    });
    const { asked, called } = await again(url);
    expect(asked[0]).toBe('You started this before and answered 2 questions. Waiting for boss.');
    await approve();
    expect((await within('the result', called)).content).toMatchObject([{ text: '1.0 all true' }]);
  });

  test('is not found while its client is there', async () => {
    const { url, notices } = await office();
    const raw = await Raw.open(url);
    await raw.call({ version: '1.0' }, { note: 'all' });
    await until('the notice', () => notices.length === 1);
    expect((await again(url)).asked[0]).toBe('Which version?');
    raw.stream.close();
  });

  test('is found again if a client of 2026-07-28 closes its connection while it waits for another person', async () => {
    const { url, approve, notices } = await office();
    const gone = new AbortController();
    const answers = [{ version: '1.0' }, { note: 'all' }];
    const client = await connected(
      { url, headers: { 'x-user': 'ada' } },
      { revision: '2026-07-28', onElicit: () => ({ action: 'accept', content: answers.shift()! }) },
    );
    closing.push(() => client.close());
    const first = client.callTool('release', {}, { signal: gone.signal }).catch(() => 'given up');
    await until('the notice', () => notices.length === 1);
    gone.abort();
    expect(await first).toBe('given up');
    const { asked, called } = await again(url);
    expect(asked[0]).toBe('You started this before and answered 2 questions. Waiting for boss.');
    await approve();
    expect((await within('the result', called)).content).toMatchObject([{ text: '1.0 all true' }]);
  });
});
