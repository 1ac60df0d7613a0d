import { afterEach, describe, expect, it } from 'vitest';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { createLog } from '../../kernel/base/log.ts';
import { FakeClock } from '../../kernel/fake-exchange.contract.ts';
import { completion, sendJson, startChatEndpoint } from '../../../tests/helpers/chat-endpoint.ts';
import type { ChatEndpoint, Reply } from '../../../tests/helpers/chat-endpoint.ts';
import { createSampler } from './sample.ts';
import type { SamplerOptions } from './sample.ts';

const client: ClientView = {
  ...SPEAKING.handshake,
  revision: 'r1',
  info: { name: 'tester', version: '1' },
  capabilities: {},
  principal: 'alice',
};
const hello: Reply = (_, response) => sendJson(response, completion({ content: 'Hello' }));
const text = (words: string) => ({ type: 'text', text: words });
const say = (words: string) => ({ messages: [{ role: 'user', content: text(words) }], maxTokens: 10 });
let endpoint: ChatEndpoint | undefined;

afterEach(() => endpoint?.[Symbol.asyncDispose]());

async function sampler(reply: Reply, options: Partial<SamplerOptions> = {}) {
  endpoint = await startChatEndpoint(reply);
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line) });
  const sample = createSampler({ url: endpoint.url, model: 'small', key: 'k-s3cret', log, ...options });
  const controller = new AbortController();
  const ask = (params: JsonObject, principal = 'alice') =>
    sample(
      { method: 'sampling/createMessage', params },
      { id: 'e1', signal: controller.signal, client: { ...client, principal } },
    );
  return { ask, lines, controller, posted: endpoint.posted };
}

describe('a request to the model', () => {
  it('a request to the model has the messages, the system prompt and the settings', async () => {
    const { ask, posted } = await sampler(hello);
    await ask({
      ...say('Hi'),
      systemPrompt: 'Be brief.',
      temperature: 0.2,
      stopSequences: ['END'],
      includeContext: 'thisServer',
      metadata: { a: 1 },
    });
    expect(posted[0]!.path).toBe('/v1/chat/completions');
    expect(posted[0]!.headers.authorization).toBe('Bearer k-s3cret');
    expect(posted[0]!.body).toEqual({
      model: 'small',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 10,
      temperature: 0.2,
      stop: ['END'],
    });
  });

  it('a request to the model has images, audio, tool calls and their results', async () => {
    const { ask, posted } = await sampler(hello);
    const image = { type: 'image', data: 'aW1n', mimeType: 'image/png' };
    const audio = { type: 'audio', data: 'c25k', mimeType: 'audio/wav' };
    const use = { type: 'tool_use', id: 't1', name: 'look', input: { at: 'x' } };
    const result = { type: 'tool_result', toolUseId: 't1', content: [text('seen'), image], isError: true };
    const structured = { type: 'tool_result', toolUseId: 't2', content: [], structuredContent: { n: 1 } };
    await ask({
      messages: [
        { role: 'user', content: [text('What is this?'), image, audio] },
        { role: 'assistant', content: [text('I look.'), use] },
        { role: 'assistant', content: { ...use, id: 't2' } },
        { role: 'user', content: [result, structured] },
      ],
      maxTokens: 10,
      tools: [{ name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: { at: {} } } }],
      toolChoice: { mode: 'required' },
    });
    const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } });
    expect(posted[0]!.body).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            text('What is this?'),
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n' } },
            { type: 'input_audio', input_audio: { data: 'c25k', format: 'wav' } },
          ],
        },
        { role: 'assistant', content: 'I look.', tool_calls: [call('t1')] },
        { role: 'assistant', content: null, tool_calls: [call('t2')] },
        { role: 'tool', tool_call_id: 't1', content: 'Error: seen\n[image/png, not shown]' },
        { role: 'tool', tool_call_id: 't2', content: '{"n":1}' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: { type: 'object', properties: { at: {} } } },
        },
      ],
      tool_choice: 'required',
    });
  });

  it.each<[string, JsonObject]>([
    ['no messages', {}],
    ['an empty list', { messages: [] }],
    ['a message without content', { messages: [{ role: 'user' }] }],
    [
      'sound that it does not take',
      { messages: [{ role: 'user', content: { type: 'audio', mimeType: 'audio/ogg' } }] },
    ],
    ['a picture said by an assistant', { messages: [{ role: 'assistant', content: { type: 'image' } }] }],
    ['a tool without a name', { ...say('x'), tools: [{}] }],
  ])('is refused if the API cannot express it: %s', async (_, params) => {
    const { ask, posted } = await sampler(hello);
    await expect(ask(params)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(posted).toEqual([]);
  });

  it('uses the configured model that a hint names', async () => {
    const { ask, posted } = await sampler(hello, { model: ['small', 'Large-2', 'huge'] });
    for (const hints of [[{ name: 'gpt' }, { name: 'large' }], [{ name: 'nothing' }], [{}], undefined]) {
      await ask({ ...say('x'), ...(hints && { modelPreferences: { hints } }) });
    }
    expect(posted.map(({ body }) => body.model)).toEqual(['Large-2', 'small', 'small', 'small']);
  });

  it('limits tokens, under the name that the endpoint expects', async () => {
    const { ask, posted } = await sampler(
      ({ body }, response) =>
        'max_tokens' in body
          ? sendJson(response, { error: { message: "Use 'max_completion_tokens' instead." } }, 400)
          : sendJson(response, completion({ content: 'ok' })),
      { maxTokens: 50 },
    );
    for (const maxTokens of [10, 1000, undefined]) await ask({ ...say('x'), maxTokens });
    const sent = posted.map(({ body }) => [body.max_tokens, body.max_completion_tokens]);
    expect(sent).toEqual([
      [10, undefined],
      [undefined, 10],
      [undefined, 50],
      [undefined, 50],
    ]);
  });

  it('goes to the exact URL with the configured headers', async () => {
    endpoint = await startChatEndpoint(hello);
    const url = `${endpoint.url}/chat/completions?api-version=1`;
    const sample = createSampler({
      url,
      model: 'm',
      headers: { 'api-key': 'other' },
      log: createLog({ level: 'silent' }),
    });
    await sample(
      { method: 'sampling/createMessage', params: say('x') },
      { id: 'e', client, signal: AbortSignal.any([]) },
    );
    const [{ path, headers }] = endpoint.posted as [ChatEndpoint['posted'][number]];
    expect([path, headers['api-key'], headers.authorization]).toEqual([
      '/v1/chat/completions?api-version=1',
      'other',
      undefined,
    ]);
  });
});

describe('the model’s answer', () => {
  const tool = (name: string, given: unknown) => ({ id: 'c1', type: 'function', function: { name, arguments: given } });

  it.each<[string, JsonObject, string, JsonObject]>([
    ['a text', { content: 'Hello' }, 'stop', { content: text('Hello'), stopReason: 'endTurn' }],
    ['a text cut off', { content: 'Hel' }, 'length', { content: text('Hel'), stopReason: 'maxTokens' }],
    ['nothing', { content: null }, 'stop', { content: text(''), stopReason: 'endTurn' }],
    ['parts', { content: [text('a'), text('b')] }, 'stop', { content: text('ab') }],
    [
      'a refusal',
      { content: null, refusal: 'No.' },
      'content_filter',
      { content: text('No.'), stopReason: 'contentFilter' },
    ],
    [
      'a call',
      { content: null, tool_calls: [tool('look', '{"at":"x"}')] },
      'tool_calls',
      { content: { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'x' } }, stopReason: 'toolUse' },
    ],
    [
      'words and calls',
      { content: 'I look.', tool_calls: [tool('look', ''), tool('see', '{}')] },
      'stop',
      {
        content: [
          text('I look.'),
          { type: 'tool_use', id: 'c1', name: 'look', input: {} },
          { type: 'tool_use', id: 'c1', name: 'see', input: {} },
        ],
        stopReason: 'toolUse',
      },
    ],
  ])('%s', async (_, message, reason, result) => {
    const { ask, lines } = await sampler((_posted, response) => sendJson(response, completion(message, reason)));
    expect(await ask(say('x'))).toMatchObject({ role: 'assistant', model: 'small-2', ...result });
    expect(lines.map((line) => JSON.parse(line) as JsonObject)).toMatchObject([
      { event: 'sampling.answered', exchange: 'e1', principal: 'alice', model: 'small' },
    ]);
  });

  it.each<[string, Reply, string]>([
    ['no message', (_, response) => sendJson(response, { choices: [] }), 'without a message'],
    ['not JSON', (_, response) => void response.end('<html>'), 'not a JSON object'],
    [
      'arguments that are none',
      (_, response) => sendJson(response, completion({ tool_calls: [tool('look', '{"at":')] })),
      'not JSON',
    ],
    [
      'a redirect',
      (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      'HTTP 307',
    ],
    ['too many requests', (_, response) => sendJson(response, { error: { message: 'slow down' } }, 429), 'HTTP 429'],
    [
      'a refused key',
      (_, response) => sendJson(response, { error: { message: 'Incorrect API key provided: k-s3****' } }, 401),
      'HTTP 401',
    ],
    [
      'a request that is too long',
      (_, response) => sendJson(response, { error: { message: 'Too long; your key k-s3cret is fine' } }, 400),
      'HTTP 400: Too long; your key [redacted] is fine',
    ],
    ['a connection that breaks', (_, response) => void response.destroy(), 'cannot be reached'],
    ['more than allowed', (_, response) => void response.end('x'.repeat(70_000)), 'more than 65536 bytes'],
  ])('is a clear error without the key: %s', async (_, reply, reason) => {
    const { ask, lines } = await sampler(reply, { maxBytes: 65_536 });
    const error = await ask(say('x')).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'MODEL_FAILED', message: expect.stringContaining(reason) });
    expect((error as Error).message).not.toContain('k-s3');
    expect(lines.join()).not.toContain('k-s3');
    expect(lines).toEqual([expect.stringContaining('sampling.failed')]);
  });

  it('the model’s answer is an error if the endpoint is down', async () => {
    const { ask } = await sampler(hello, { url: 'http://127.0.0.1:1/v1' });
    await expect(ask(say('x'))).rejects.toMatchObject({ code: 'MODEL_FAILED' });
  });
});

describe('limits', () => {
  it('apply to the size of a request', async () => {
    const { ask, posted } = await sampler(hello, { maxBytes: 200 });
    await expect(ask(say('x'.repeat(300)))).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(posted).toEqual([]);
  });

  it('make a principal wait without delaying others', async () => {
    const open: (() => void)[] = [];
    let onPosted = (): void => {};
    const { ask, posted } = await sampler(
      (_, response) => {
        open.push(() => sendJson(response, completion({ content: 'ok' })));
        onPosted();
      },
      { maxConcurrent: 2 },
    );
    const reached = (count: number) =>
      new Promise<void>((resolve) => {
        onPosted = () => posted.length >= count && resolve();
        onPosted();
      });
    const answers = ['a', 'b', 'c'].map((words) => ask(say(words)));
    await reached(2);
    answers.push(ask(say('bob'), 'bob'));
    await reached(3);
    expect(JSON.stringify(posted.map(({ body }) => body.messages))).not.toContain('"c"');
    open.shift()!();
    await reached(4);
    for (const answer of open) answer();
    expect(await Promise.all(answers)).toHaveLength(4);
  });

  it('apply to the number of waiting requests', async () => {
    const { ask, controller } = await sampler(() => {}, { maxConcurrent: 1 });
    const answers = Array.from({ length: 17 }, () => ask(say('x')));
    const settled = Promise.allSettled(answers);
    await expect(ask(say('x'))).rejects.toMatchObject({ code: 'TOO_MANY' });
    controller.abort();
    for (const { status, reason } of (await settled) as PromiseRejectedResult[]) {
      expect([status, (reason as { code: string }).code]).toEqual(['rejected', 'CANCELLED']);
    }
  });

  it('apply to the time of an answer', async () => {
    const clock = new FakeClock();
    let closed: Promise<unknown> | undefined;
    const { ask, posted } = await sampler(
      (_, response) => void (closed = new Promise((resolve) => response.once('close', resolve))),
      { timeoutMs: 1000, clock },
    );
    const answer = ask(say('x'));
    const failed = expect(answer).rejects.toMatchObject({ message: expect.stringContaining('no answer in 1000 ms') });
    await expect.poll(() => posted.length, { timeout: 20_000 }).toBe(1);
    await clock.advance(1000);
    await failed;
    await closed;
    expect(clock.timers).toBe(0);
  });
});

describe('options', () => {
  it.each(['nowhere', 'ftp://example.com', 'https://me:secret@model.example/v1'])('refuse the URL %s', (url) => {
    expect(() => createSampler({ url, model: 'm' })).toThrow('ask.model.url');
  });
});
