// Messages pass the gateway without loss: the same probe runs directly and through a gateway, with an SDK client and an SDK
// server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  Opened,
  TRANSPORTS,
  address,
  connect2026,
  connectV1,
  gatewayTo,
  serverFile,
  toTransport,
} from './helpers/direct-and-through.ts';
import type { Heard } from './helpers/direct-and-through.ts';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import { until } from '../../helpers/until.ts';

const ANY = z.looseObject({});
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const MARK = { 'acme/mark': { deep: [1, 'two'] } };

/** A client that answers everything, with members of its own. */
function answering(client: any): void {
  // The SDK forgets who wants progress once it has the answer: the answer waits until the progress was heard.
  const progressed = new Promise<void>((resolve) => {
    client.fallbackNotificationHandler = async ({ params }: any) => void (params?.progressed && resolve());
  });
  client.setRequestHandler(types.CreateMessageRequestSchema, async (request: any, extra: any) => {
    if (request.params.messages.length === 0) throw new types.McpError(-32042 + 7, 'Not today', { acme: true });
    const { progressToken } = request.params._meta ?? {};
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 3, total: 4, message: 'thinking' };
      await extra.sendNotification({ method: 'notifications/progress', params });
      await progressed;
    }
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' }, _meta: MARK, acme: 'answer' };
  });
  client.setRequestHandler(types.ElicitRequestSchema, async () => ({
    action: 'accept',
    content: { n: 1 },
    _meta: MARK,
    acme: 'answer',
  }));
  const AcmeAsk = z.looseObject({ method: z.literal('acme/ask'), params: ANY.optional() });
  client.setRequestHandler(AcmeAsk, async (request: any) => ({ asked: request.params, _meta: MARK }));
}

describe.each(TRANSPORTS)('over %s', (transport) => {
  const opened = new Opened();
  let direct: Heard;
  let through: Heard;

  beforeAll(async () => {
    const at = await address(opened, 'chatty-v1', transport);
    direct = await connectV1(opened, toTransport(at), CAPABILITIES, answering);
    const connect = await gatewayTo(opened, { chatty: at }, transport);
    through = await connectV1(opened, connect(), CAPABILITIES, answering);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const both = async <T>(probe: (heard: Heard) => Promise<T>): Promise<[T, T]> => [
    await probe(direct),
    await probe(through),
  ];
  const call = async ({ client }: Heard, name: string, args = {}, options = {}): Promise<any> => {
    const result: any = await client.callTool({ name, arguments: args }, undefined, options);
    return JSON.parse(result.content[0].text);
  };
  const notification = async (heard: Heard, tool: string, method: string, options = {}): Promise<any> => {
    const before = heard.messages.length;
    await call(heard, tool, {}, options);
    const found = await heard.find(
      method,
      (message) => message.method === method && heard.messages.indexOf(message) >= before,
    );
    return found.params;
  };

  test('progress keeps its `_meta` and members of its own', async () => {
    const probe = async (heard: Heard) => {
      const { progressToken, ...rest } = await notification(heard, 'progress', 'notifications/progress', {
        onprogress: () => {},
      });
      return rest;
    };
    const [one, other] = await both(probe);
    expect(one).toEqual({ progress: 1, total: 2, message: 'half', _meta: MARK, acme: true });
    expect(other).toEqual(one);
  });

  test.each([
    ['log messages', 'log', 'notifications/message'],
    ['updates, also of resources without a subscriber,', 'updated', 'notifications/resources/updated'],
    ['changed lists', 'listChanged', 'notifications/tools/list_changed'],
    ['notifications that the protocol does not know', 'news', 'notifications/acme/news'],
  ])('%s keep their `_meta` and members of their own', async (_, tool, method) => {
    const [one, other] = await both((heard) => notification(heard, tool, method));
    expect(one).toMatchObject({ _meta: MARK });
    expect(other).toEqual(one);
  });

  test('a notification of the server that belongs to no call arrives', async () => {
    const probe = async (heard: Heard) => {
      await call(heard, 'lateNews');
      return (await heard.find('the late news', ({ params }) => params?.n === 2)).params;
    };
    const [one, other] = await both(probe);
    expect(other).toEqual(one);
  });

  test('a sampling request and its answer keep every member, and the client’s progress arrives', async () => {
    const probe = async (heard: Heard) => {
      const told = await call(heard, 'sample');
      const { params } = heard.messages.findLast(({ method }) => method === 'sampling/createMessage');
      const { progressToken, ..._meta } = params._meta;
      return { told, asked: { ...params, _meta } };
    };
    const [one, other] = await both(probe);
    expect(one.told).toMatchObject({ answer: { _meta: MARK, acme: 'answer' }, progress: [{ progress: 3, total: 4 }] });
    expect(one.asked).toMatchObject({ _meta: MARK, acme: true });
    expect(other).toEqual(one);
  });

  test('an elicitation and its answer keep every member', async () => {
    const probe = async (heard: Heard) => {
      const told = await call(heard, 'elicit');
      return { told, asked: heard.messages.findLast(({ method }) => method === 'elicitation/create').params };
    };
    const [one, other] = await both(probe);
    expect(one).toMatchObject({ told: { _meta: MARK, acme: 'answer' }, asked: { _meta: MARK, acme: true } });
    expect(other).toEqual(one);
  });

  test('a refusal of the client reaches the server unchanged', async () => {
    const [one, other] = await both((heard) => call(heard, 'refused'));
    expect(one).toMatchObject({ code: -32035, data: { acme: true } });
    expect(other).toEqual(one);
  });

  test('a request of the server that the protocol does not know is answered by the client', async () => {
    const [one, other] = await both((heard) => call(heard, 'ask'));
    expect(one).toMatchObject({ asked: { n: 1, _meta: MARK }, _meta: MARK });
    expect(other).toEqual(one);
    const [refused, also] = await both((heard) => call(heard, 'unknown'));
    expect(refused).toMatchObject({ code: -32601 });
    expect(also).toEqual(refused);
  });

  test('requests and notifications of the client that the protocol does not know arrive', async () => {
    const probe = async (heard: Heard) => {
      const params = { n: 1, _meta: MARK };
      const echo = await heard.client.request({ method: 'acme/echo', params }, ANY);
      await heard.client.notification({ method: 'notifications/acme/told', params: { n: 1, _meta: MARK } });
      const told = await until('the notification to be heard', async () => {
        const all: any[] = await call(heard, 'heard');
        return all.find((one) => one.told);
      });
      return { echo, told };
    };
    const [one, other] = await both(probe);
    expect(one.told).toEqual({ told: { n: 1, _meta: MARK } });
    expect(other).toEqual(one);
  });

  test.each(['resources/subscribe', 'resources/unsubscribe'])(
    '%s and its result keep their `_meta` and members of their own',
    async (method) => {
      const probe = async (heard: Heard) => {
        const params = { uri: 'acme://watched', acme: [1], _meta: MARK };
        const result = await heard.client.request({ method, params }, ANY);
        const all: any[] = await call(heard, 'heard');
        return { result, asked: all.filter((one) => one[method]) };
      };
      const [one, other] = await both(probe);
      expect(one.result).toEqual({ _meta: MARK, acme: method });
      expect(one.asked).toEqual([{ [method]: expect.objectContaining({ _meta: MARK }) }]);
      expect(other).toEqual(one);
    },
  );

  test('the reason of a cancel arrives', async () => {
    const probe = async (heard: Heard) => {
      const controller = new AbortController();
      const before = heard.messages.length;
      const hanging = call(heard, 'hang', {}, { signal: controller.signal }).catch(() => {});
      await heard.find(
        'the call to hang',
        (message) => message.params?.hanging && heard.messages.indexOf(message) >= before,
      );
      controller.abort('I changed my mind');
      await hanging;
      return until('the cancel to be heard', async () => {
        const all: any[] = await call(heard, 'heard');
        return all.find((one) => one.cancelled);
      });
    };
    const [one, other] = await both(probe);
    expect(one.cancelled).toContain('I changed my mind');
    expect(other).toEqual(one);
  });

  test('a server is asked for progress only where the client asked for it', async () => {
    const [one, other] = await both((heard) => call(heard, 'meta'));
    expect(one).toBe('none');
    expect(other).toEqual(one);
    const wanted = await call(through, 'meta', {}, { onprogress: () => {} });
    expect(wanted).toHaveProperty('progressToken');
  });

  test.each([
    ['a resource', (client: any) => client.readResource({ uri: 'acme://x' })],
    ['a prompt', (client: any) => client.getPrompt({ name: 'p' })],
    [
      'a tool',
      (client: any) =>
        client.callTool({ name: 'fails', arguments: { code: -32602, message: 'Unknown tool: x', data: [1] } }),
    ],
    [
      'a tool with a code of its own',
      (client: any) => client.callTool({ name: 'fails', arguments: { code: -32020, message: 'Mine', data: 1 } }),
    ],
    [
      'a tool with the code of another era',
      (client: any) => client.callTool({ name: 'fails', arguments: { code: -32021, message: 'Mine', data: 1 } }),
    ],
    ['a method that is unknown', (client: any) => client.request({ method: 'acme/none' }, ANY)],
  ])('errors of the server keep code, message and data: %s', async (_, ask) => {
    const [one, other] = await both(async ({ client }) => {
      const { code, message, data } = await ask(client).catch((error: unknown) => error);
      return { code, message, data };
    });
    expect(one.code).toBeTypeOf('number');
    expect(other).toEqual(one);
  });
});

describe.each(TRANSPORTS)('a client of 2026-07-28 before a server of 2025-11-25, over %s', (transport) => {
  const opened = new Opened();
  let client: any;
  let heard: Heard<any>;
  let connect: (isV2?: boolean) => any;

  beforeAll(async () => {
    const at = await address(opened, 'chatty-v1', transport);
    connect = await gatewayTo(opened, { chatty: at }, transport);
    heard = await connect2026(opened, connect(true));
    ({ client } = heard);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const call = async (name: string, args = {}, options = {}): Promise<any> => {
    const result: any = await client.callTool({ name, arguments: args }, options);
    return JSON.parse(result.content[0].text);
  };

  test('a notification that the protocol does not know reaches the server', async () => {
    await client.notification({ method: 'notifications/acme/told', params: { n: 1, _meta: MARK } });
    const told = await until('the notification to be heard', async () => {
      const all: any[] = await call('heard');
      return all.find((one) => one.told);
    });
    expect(told).toEqual({ told: { n: 1, _meta: MARK } });
  });

  test('a request that the protocol does not know reaches the server', async () => {
    const echo = await client.request({ method: 'acme/echo', params: { n: 1, _meta: MARK } }, ANY);
    expect(echo).toMatchObject({ echo: { n: 1, _meta: MARK }, meta: MARK });
  });

  test('progress keeps its `_meta`, and is asked for only where the client did', async () => {
    await call('progress', {}, { onprogress: () => {} });
    const { params } = await heard.find('progress', ({ method }) => method === 'notifications/progress');
    expect(params).toMatchObject({ progress: 1, total: 2, message: 'half', acme: true, _meta: MARK });
    expect(await call('meta')).toBe('none');
  });

  test('a page is asked for once, and the call is made again when it was visited', async () => {
    const pages: unknown[] = [];
    const asking = await connect2026(opened, connect(true), { elicitation: { form: {}, url: {} } }, (one) => {
      one.setRequestHandler('elicitation/create', async ({ params }: any) => {
        pages.push(params.url);
        return { action: 'accept' };
      });
    });
    const locked = asking.client.callTool({ name: 'locked' }, { timeout: 120_000 });
    await until('the page to be asked for', () => pages.length > 0);
    await asking.client.callTool({ name: 'visit' });
    expect(JSON.parse((await locked).content[0].text)).toEqual({ calls: 2 });
    expect(pages).toEqual(['https://example.com/login']);
  });

  test('an error keeps its message and data; its code is that of the era', async () => {
    const error = await client.readResource({ uri: 'acme://x' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: -32602, data: { uri: 'acme://x', acme: true } });
    expect(error.message).toContain('Resource not found: acme://x');
  });
});

describe('an answer to an elicitation keeps its `_meta` and members of its own', () => {
  const ANSWER = { action: 'accept', content: { n: 1, city: 'Oslo' }, _meta: MARK, acme: 'answer' };

  // The official client of 2026-07-28 leaves them out, so this one is raw.
  test('from 2026-07-28 to 2025-11-25', async () => {
    await using opened = new Opened();
    const servers = { chatty: await address(opened, 'chatty-v1', 'stdio') };
    const gateway = createGateway({ servers, log: createLog({ level: 'silent' }), startMs: 60_000 });
    opened.add(gateway, () => gateway.close());
    const { url } = await gateway.listen({ port: 0 });
    const call = async (more: object): Promise<any> => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      };
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'elicit',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'elicit',
            arguments: {},
            ...more,
            _meta,
          },
        }),
      });
      const body = await response.text();
      return JSON.parse(body.replace(/^[^{]*data: /s, '')).result;
    };
    const { inputRequests, requestState } = await call({});
    const [[key, question]] = Object.entries<any>(inputRequests);
    expect(question.params).toMatchObject({ _meta: MARK, acme: true });
    const { content } = await call({ inputResponses: { [key]: ANSWER }, requestState });
    expect(JSON.parse(content[0].text)).toEqual(ANSWER);
  });

  test('from 2025-11-25 to 2026-07-28', async () => {
    await using opened = new Opened();
    const at = { command: process.execPath, args: [serverFile('both-eras-v2')] };
    const connect = await gatewayTo(opened, { both: { server: at, era: 'stateless' } }, 'stdio');
    const { client } = await connectV1(opened, connect(), CAPABILITIES, (one) =>
      one.setRequestHandler(types.ElicitRequestSchema, async () => ANSWER as any),
    );
    const result: any = await client.callTool({ name: 'answer_in_rounds', arguments: {} });
    expect(JSON.parse(result.content[0].text)).toMatchObject(ANSWER);
  });
});

describe.each(TRANSPORTS)('what a raw client sees directly and through the gateway, over %s', (transport) => {
  const opened = new Opened();
  let direct: Heard;
  let through: Heard;

  beforeAll(async () => {
    const at = await address(opened, 'chatty-v1', transport);
    direct = await connectV1(opened, toTransport(at));
    const connect = await gatewayTo(opened, { chatty: at }, transport);
    through = await connectV1(opened, connect());
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const both = async <T>(probe: (heard: Heard) => Promise<T>): Promise<[T, T]> => [
    await probe(direct),
    await probe(through),
  ];

  test('members of the server’s own in the result of initialize', async () => {
    const [one, other] = await both(async ({ greeting }) => greeting);
    expect(one).toMatchObject({ acme: { kept: [1, null] }, _meta: { 'acme/mark': 1 } });
    expect(other).toMatchObject({ acme: one.acme, _meta: one._meta });
  });

  test('the error of a log level that does not exist', async () => {
    const [one, other] = await both(async ({ client }) => {
      const thrown = await client
        .request({ method: 'logging/setLevel', params: { level: 'loud' } } as any, ANY)
        .catch((error: unknown) => error);
      const { code, message, data } = thrown as any;
      return { code, message, data };
    });
    expect(one.code).toBeTypeOf('number');
    expect(other).toEqual(one);
    await through.client.setLoggingLevel('error');
  });
});

describe('several servers', () => {
  const opened = new Opened();
  let client: any;

  beforeAll(async () => {
    const exact = await address(opened, 'exact', 'stdio');
    const chatty = await address(opened, 'chatty-v1', 'stdio');
    const connect = await gatewayTo(opened, { exact, chatty }, 'http');
    ({ client } = await connectV1(opened, connect()));
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const refused = async (params: any): Promise<any> => client.request(params, ANY).catch((thrown: unknown) => thrown);

  test('a request that the protocol does not know goes to the server that knows it, or to the one that is named', async () => {
    const echo = { method: 'acme/echo', params: { n: 1 } };
    expect(await client.request(echo, ANY)).toMatchObject({ echo: { n: 1 } });
    const to = (server: string) => ({ ...echo, params: { n: 2, _meta: { 'mcp-parley/server': server } } });
    expect(await client.request(to('chatty'), ANY)).toEqual({ echo: { n: 2 } });
    expect(await refused(to('exact'))).toMatchObject({
      code: -32601,
      message: expect.stringContaining('No acme/echo'),
    });
    expect(await refused(to('none'))).toMatchObject({
      code: -32602,
      data: { error: 'There is no server "none"; use one of exact, chatty' },
    });
    expect(await refused({ method: 'acme/none' })).toMatchObject({
      code: -32601,
      data: 'No server knows acme/none; tried: exact, chatty',
    });
  });

  test('a notification that the protocol does not know goes to all of them', async () => {
    await client.notification({ method: 'notifications/acme/told', params: { n: 1 } });
    const told = await until('the notification to be heard', async () => {
      const result = await client.callTool({ name: 'chatty__heard' });
      return (JSON.parse(result.content[0].text) as any[]).find((one) => one.told);
    });
    expect(told).toEqual({ told: { n: 1 } });
  });

  test('completion of an unknown prompt or template is an error', async () => {
    const argument = { name: 'a', value: '' };
    for (const ref of [
      { type: 'ref/prompt', name: 'none' },
      { type: 'ref/resource', uri: 'acme://{none}' },
    ]) {
      expect(await refused({ method: 'completion/complete', params: { ref, argument } })).toMatchObject({
        code: -32602,
      });
    }
  });
});
