import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { parseExactly, writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { answerOf, converse } from '../fake-context.contract.ts';
import { fromInvocation, toInvocation } from './invocation.ts';

const DRAFT = { mcpVersion: '2025-06-18', clientCapabilities: { supportsProgress: true, supportsCancellation: true } };

function open(handle?: Parameters<typeof converse>[0], params: JsonObject = DRAFT) {
  const conversation = converse(handle);
  return { ...conversation, welcome: conversation.open(params).result! };
}

describe('the draft dialect', () => {
  it('passes numbers on as they were written, in both directions', () => {
    const text = '{"n":12345678901234567890,"one":1.0}';
    expect(writeExactly(toInvocation({ content: [{ type: 'text', text }] }))).toContain(`"output":${text}`);
    const output = parseExactly(text);
    expect(fromInvocation({ status: 'success', output }).content).toEqual([{ type: 'text', text }]);
  });

  it('answers initialize without a version and with what the server offers', () => {
    expect(open().welcome).toEqual({
      server: { name: 'fake', version: '1' },
      serverCapabilities: { supportsToolDiscovery: true, supportsResourceDiscovery: true, supportsNotifications: true },
    });
  });

  it.each([
    'tools/call',
    'resources/read',
    'prompts/list',
    'completion/complete',
    'logging/setLevel',
    'tasks/get',
    'nope',
  ])('does not have %s', (method) => {
    expect(answerOf(open().call(1, method)).error).toMatchObject({ code: -32601, data: `Unknown method: ${method}` });
  });

  it('lists all pages as a bare array, and stops at a cursor that repeats', async () => {
    const pages = [
      { tools: [{ name: 'a' }], nextCursor: '1' },
      { tools: [{ name: 'b' }], nextCursor: '2' },
      { tools: [] },
    ];
    const { call } = open(({ params }) => pages[Number(params.cursor ?? 0)]!);
    expect((await call(1, 'tools/list').answer()).result).toEqual([{ name: 'a' }, { name: 'b' }]);
    const endless = open(() => ({ resources: [{ uri: 'a:' }], nextCursor: 'same' }));
    expect((await endless.call(1, 'resources/list').answer()).result).toHaveLength(2);
    let page = 0;
    const long = open(() => ({ tools: [{ name: `${page}` }], nextCursor: `${page++}` }));
    expect((await long.call(1, 'tools/list').answer()).result).toHaveLength(1000);
  });

  it('names one exchange in the log lines about all pages of a list', async () => {
    const ids = new Set<string>();
    const { call } = open(({ id, params }) => {
      ids.add(id);
      return params.cursor === undefined ? { tools: [{ name: 'a' }], nextCursor: '1' } : { tools: [{ name: 'b' }] };
    });
    expect((await call(1, 'tools/list').answer()).result).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(ids.size).toBe(1);
  });

  it('invokes tools, and reports a missing argument with its own code', async () => {
    const { call, target } = open(() => ({ content: [], structuredContent: { temperature: 89 } }));
    const answer = await call(1, 'tools/invoke', { name: 'x', arguments: {} }).answer();
    expect(answer.result).toEqual({ status: 'success', output: { temperature: 89 } });
    expect(target.seen[0]!.method).toBe('tools/call');
    const missing = open(() => {
      throw new GatewayError('INVALID_ARGUMENTS', { parameter: 'city', missing: true });
    });
    expect((await missing.call(1, 'tools/invoke').answer()).error).toEqual({
      code: 4001,
      message: "Missing required parameter 'city'",
    });
    const wrong = open(() => {
      throw new GatewayError('INVALID_ARGUMENTS', { parameter: 'city', error: 'Must be a string' });
    });
    expect((await wrong.call(1, 'tools/invoke').answer()).error!.code).toBe(-32602);
  });

  it('reports progress in percent to clients that can show it', async () => {
    const handle: Parameters<typeof converse>[0] = (exchange) => {
      exchange.progress({ progress: 1, total: 3, message: 'm' });
      exchange.progress({ progress: 42 });
      return { content: [] };
    };
    const { call } = open(handle);
    const outlet = call('seven', 'tools/invoke');
    await outlet.answer();
    expect(outlet.sent).toEqual([
      { jsonrpc: '2.0', method: 'progress', params: { id: 'seven', percent: 33, message: 'm' } },
      { jsonrpc: '2.0', method: 'progress', params: { id: 'seven', percent: 42 } },
    ]);
    const quiet = open(handle, { mcpVersion: '2025-06-18' }).call(1, 'tools/invoke');
    await quiet.answer();
    expect(quiet.sent).toEqual([]);
  });

  it('reports changes with their difference, and resources by name', () => {
    const { target, back } = open();
    target.tell({ kind: 'tools', added: [{ name: 'n', description: 'd' }, { name: 'm' }], removed: ['o'] });
    target.tell({ kind: 'resource', uri: 'a:', name: 'files' });
    target.tell({ kind: 'resource', uri: 'b:' });
    target.tell({ kind: 'prompts' });
    target.tell({ kind: 'log', entry: { level: 'error', data: 1 } });
    expect(back).toEqual([
      {
        jsonrpc: '2.0',
        method: 'tools/changed',
        params: { added: [{ name: 'n', description: 'd' }, { name: 'm' }], removed: ['o'] },
      },
      { jsonrpc: '2.0', method: 'resources/changed', params: { updated: ['files'] } },
      { jsonrpc: '2.0', method: 'resources/changed', params: { updated: ['b:'] } },
    ]);
  });

  it('cannot ask, so a tool that asks fails', async () => {
    const { call } = open(async (exchange) => exchange.ask({ method: 'roots/list' }));
    expect((await call(1, 'tools/invoke').answer()).result).toMatchObject({ status: 'error' });
  });
});

describe('invocations', () => {
  it('return the structured content, else the JSON of the only text, else the text', () => {
    const text = (...texts: string[]) => ({ content: texts.map((one) => ({ type: 'text', text: one })) });
    expect(toInvocation({ ...text('x'), structuredContent: { a: 1 } }).output).toEqual({ a: 1 });
    expect(toInvocation(text('{"a":1}')).output).toEqual({ a: 1 });
    expect(toInvocation(text('{broken')).output).toEqual({ text: '{broken' });
    expect(toInvocation(text('a', 'b')).output).toEqual({ text: 'a\nb' });
    expect(toInvocation({ ...text('why'), isError: true })).toEqual({ status: 'error', output: { message: 'why' } });
    const image = { type: 'image', data: '', mimeType: 'image/png' };
    expect(toInvocation({ content: [image] }).output).toEqual({ text: '', content: [image] });
  });

  it('keep structure and failure over a round trip', () => {
    const structured = fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
    fc.assert(
      fc.property(structured, fc.boolean(), (structuredContent, isError) => {
        const back = fromInvocation(toInvocation({ content: [], structuredContent, isError }));
        expect(back).toMatchObject({ isError });
        expect(back.structuredContent).toEqual(structuredContent);
      }),
    );
  });

  it('accept whatever a server sends', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (anything) => {
        const result = fromInvocation(JSON.parse(JSON.stringify(anything)));
        expect(Array.isArray(result.content)).toBe(true);
        expect(typeof result.isError).toBe('boolean');
      }),
    );
  });
});
