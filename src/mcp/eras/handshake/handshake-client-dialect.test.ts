import type { HandshakeClientDialect } from './handshake-client-dialect.ts';
import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import type { ErrorCode } from '../../../kernel/base/error-table.ts';
import { answerOf, converse } from '../fake-context.contract.ts';

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', 'DRAFT-2025-v3', '2025-11-25'];

function open(protocolVersion: string, handle?: Parameters<typeof converse>[0], capabilities: JsonObject = {}) {
  const conversation = converse(handle);
  return { ...conversation, welcome: conversation.open({ protocolVersion, capabilities }).result! };
}

function failing(revision: string, code: ErrorCode, details: JsonObject = {}) {
  const { call } = open(revision, () => {
    throw new GatewayError(code, details);
  });
  return answerOf(call(1, 'tools/call'));
}

describe('the answer to initialize', () => {
  it('names the server in the fields of the revision', () => {
    expect(open('2025-11-25').welcome.serverInfo).toHaveProperty('websiteUrl');
    expect(open('2025-06-18').welcome.serverInfo).toEqual({ name: 'fake', version: '1', title: 'Fake' });
    expect(open('2025-03-26').welcome.serverInfo).toEqual({ name: 'fake', version: '1' });
  });

  it('declares completions from 2025-03-26 on and tasks from 2025-11-25 on', () => {
    for (const revision of REVISIONS) {
      const { target, call } = converse();
      const tasks = { requests: { tools: { call: {} } } };
      const extensions = { 'io.modelcontextprotocol/tasks': {}, 'io.modelcontextprotocol/ui': {} };
      Object.assign(target.offered, { completions: {}, tasks, extensions });
      const { capabilities } = answerOf(call(1, 'initialize', { protocolVersion: revision })).result as JsonObject;
      expect('completions' in (capabilities as object)).toBe(revision !== '2024-11-05');
      expect('tasks' in (capabilities as object)).toBe(revision === '2025-11-25');
      expect((capabilities as JsonObject).extensions).toEqual({ 'io.modelcontextprotocol/ui': {} });
    }
  });
});

describe('methods', () => {
  it.each(['tools/invoke', 'shutdown', 'server/discover', 'subscriptions/listen', 'tasks/update'])(
    '%s belongs to other dialects and is unknown here',
    (method) => {
      for (const revision of REVISIONS) {
        const { call, target } = open(revision);
        expect(answerOf(call(1, method)).error).toEqual({
          code: -32601,
          message: 'Method not found',
          data: `Unknown method: ${method}`,
        });
        expect(target.seen).toEqual([]);
      }
    },
  );

  it('include tasks in 2025-11-25 only; elsewhere a request for one is ignored', () => {
    for (const revision of REVISIONS) {
      const { call, target } = open(revision, () => ({ content: [], tasks: [] }));
      const known = revision === '2025-11-25';
      expect(answerOf(call(1, 'tasks/list')).error?.code).toBe(known ? undefined : -32601);
      call(2, 'tools/call', { name: 'x', task: { ttl: 5 } });
      const exchange = target.seen.at(-1)!;
      expect(exchange.params).toEqual({ name: 'x' });
      expect(exchange.task).toEqual(known ? { ttl: 5, requested: true } : undefined);
    }
  });

  it('lose the protocol’s _meta and keep other keys', () => {
    const { call, target } = open('2025-11-25');
    const _meta = {
      progressToken: 'p',
      traceparent: '00-1',
      'example.com/x': 1,
      'io.modelcontextprotocol/clientInfo': {},
    };
    call(1, 'tools/call', { name: 'x', _meta });
    expect(target.seen[0]).toMatchObject({ params: { _meta: { 'example.com/x': 1 } }, trace: { traceparent: '00-1' } });
    call(2, 'tools/call', { name: 'x', _meta: 'odd' });
    call(3, 'tools/call', { name: 'x', _meta: { progressToken: {} } });
    expect(target.seen).toHaveLength(3);
  });
});

describe('errors', () => {
  it('for unknown names have the codes of mcp-chain in 2025-03-26 and the official ones elsewhere', () => {
    expect(failing('2025-03-26', 'TOOL_NOT_FOUND', { name: 'x' }).error).toEqual({
      code: -32001,
      message: 'Tool not found',
      data: "Tool 'x' does not exist",
    });
    expect(failing('2025-03-26', 'RESOURCE_NOT_FOUND', { uri: 'a:' }).error!.data).toBe("Resource 'a:' does not exist");
    expect(failing('2025-03-26', 'PROMPT_NOT_FOUND', { name: 'x' }).error!.code).toBe(-32003);
    expect(failing('2025-03-26', 'TOOL_UNREACHABLE', { reason: 'gone' }).error!.code).toBe(-32004);
    expect(failing('2025-03-26', 'ACCESS_DENIED', { uri: 'a:' }).error!.code).toBe(-32005);
    for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      expect(failing(revision, 'TOOL_NOT_FOUND', { name: 'x' }).error).toEqual({
        code: -32602,
        message: 'Unknown tool: x',
      });
      expect(failing(revision, 'RESOURCE_NOT_FOUND', { uri: 'a:' }).error).toEqual({
        code: -32002,
        message: 'Resource not found',
        data: { uri: 'a:' },
      });
    }
  });

  it('for bad arguments are a result for the model from 2025-11-25 on', () => {
    const details = { tool: 't', reason: 'a is missing', parameter: 'a', error: 'Required parameter missing' };
    expect(failing('2025-11-25', 'INVALID_ARGUMENTS', details).result).toEqual({
      content: [{ type: 'text', text: 'Invalid arguments for tool t: a is missing' }],
      isError: true,
    });
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
      expect(failing(revision, 'INVALID_ARGUMENTS', details).error).toEqual({
        code: -32602,
        message: 'Invalid params',
        data: { parameter: 'a', error: 'Required parameter missing' },
      });
    }
  });

  it('for a client that cannot be asked are a failed call, never a code of the stateless era', () => {
    for (const revision of REVISIONS) {
      expect(failing(revision, 'CLIENT_CANNOT_BE_ASKED', { what: 'roots/list' }).result).toMatchObject({
        isError: true,
      });
      const { call } = open(revision, () => {
        throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'roots/list' });
      });
      expect(answerOf(call(1, 'prompts/get')).error!.code).toBe(-32603);
    }
  });

  it('with their own code pass unchanged', () => {
    const { call } = open('2025-11-25', () => {
      throw new ProtocolError(-32042, 'URL needed', { elicitations: [] });
    });
    expect(answerOf(call(1, 'tools/call')).error).toEqual({
      code: -32042,
      message: 'URL needed',
      data: { elicitations: [] },
    });
  });
});

describe('progress', () => {
  const progressing = (revision: string, token?: unknown) => {
    const { call } = open(revision, (exchange) => {
      exchange.progress({ progress: 1, total: 2, message: 'half' });
      exchange.progress({ progress: 2 });
      return { content: [] };
    });
    return call(1, 'tools/call', token === undefined ? {} : { _meta: { progressToken: token } }).sent;
  };

  it('is sent only for requests with a token, with the token unchanged', () => {
    expect(progressing('2025-11-25')).toEqual([]);
    expect(progressing('2025-11-25', null)).toEqual([]);
    for (const progressToken of [0, 7, '', 'seven']) {
      expect(progressing('2025-11-25', progressToken)).toMatchObject([
        { method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message: 'half' } },
        { params: { progressToken, progress: 2 } },
      ]);
    }
  });

  it('has a message from 2025-03-26 on', () => {
    const words = (revision: string) => (progressing(revision, 1)[0] as { params: JsonObject }).params.message;
    expect(words('2024-11-05')).toBeUndefined();
    expect(words('2025-03-26')).toBe('half');
  });
});

describe('questions', () => {
  const form: Ask = { method: 'elicitation/create', params: { mode: 'form', message: 'm' }, key: 'k' };
  const url: Ask = { method: 'elicitation/create', params: { mode: 'url', url: 'x:' } };
  const tools: Ask = { method: 'sampling/createMessage', params: { tools: [] } };
  const plain: Ask = { method: 'sampling/createMessage', params: {} };
  const roots: Ask = { method: 'roots/list' };
  const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
  const canAsk = (revision: string, ask: Ask, capabilities: JsonObject = everything) =>
    (open(revision, undefined, capabilities).conversation.dialect as HandshakeClientDialect).canAsk(ask);

  it('exist only if the revision has them', () => {
    expect(REVISIONS.map((revision) => canAsk(revision, form))).toEqual([false, false, true, true, true]);
    expect(REVISIONS.map((revision) => canAsk(revision, url))).toEqual([false, false, false, false, true]);
    expect(REVISIONS.map((revision) => canAsk(revision, plain))).toEqual([true, true, true, true, true]);
    expect(canAsk('2024-11-05', roots)).toBe(true);
  });

  it('go only to clients that declared them', () => {
    expect(canAsk('2025-11-25', form, {})).toBe(false);
    expect(canAsk('2025-11-25', form, { elicitation: {} })).toBe(true);
    expect(canAsk('2025-11-25', form, { elicitation: { url: {} } })).toBe(false);
    expect(canAsk('2025-11-25', url, { elicitation: {} })).toBe(false);
    expect(canAsk('2025-11-25', tools, { sampling: {} })).toBe(false);
    expect(canAsk('2025-11-25', tools, { sampling: { tools: {} } })).toBe(true);
    expect(canAsk('2025-11-25', roots, { sampling: {} })).toBe(false);
  });

  it('have no mode before 2025-11-25, and carry their key in _meta', () => {
    const toAsk = (revision: string) => open(revision, undefined, everything).conversation.dialect!.toAsk(form);
    const _meta = { 'mcp-parley/key': 'k' };
    expect(toAsk('2025-06-18')).toEqual({ method: 'elicitation/create', params: { message: 'm', _meta } });
    expect(toAsk('2025-11-25').params).toEqual({ mode: 'form', message: 'm', _meta });
  });
});
