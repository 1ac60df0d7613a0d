// Compiled by `tsc -p tsconfig.json`, never run: what the public API promises about types. Results are those of the official
// SDK, its transports are accepted on both sides, and what is given to handlers is typed.
import type {
  CallToolResult,
  CompleteResult,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Request as UndiciRequest } from 'undici';
import { connect, createServer } from 'mcp-parley';
import { onCall } from 'mcp-parley/middleware';
import type { Step } from 'mcp-parley/middleware';
import type { Address, Client, ConnectOptions, ErrorCode, GatewayError, ProtocolError } from 'mcp-parley';

/** `any` is the same as nothing. */
type Same<A, B> = 0 extends 1 & A ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Result<M extends keyof Client> = Client[M] extends (...args: never[]) => Promise<infer R> ? R : never;

/** Each line is a compile error unless it is true. */
export type Checks = [
  Is<Same<Result<'callTool'>, CallToolResult>>,
  Is<Same<Result<'listTools'>, Tool[]>>,
  Is<Same<Result<'listResources'>, Resource[]>>,
  Is<Same<Result<'listResourceTemplates'>, ResourceTemplateType[]>>,
  Is<Same<Result<'listPrompts'>, Prompt[]>>,
  Is<Same<Result<'readResource'>, ReadResourceResult>>,
  Is<Same<Result<'getPrompt'>, GetPromptResult>>,
  Is<Same<Result<'complete'>, CompleteResult['completion']>>,
  Is<Transport extends Address ? true : false>,
  Is<URL extends Address ? true : false>,
  Is<Same<GatewayError['code'], ErrorCode>>,
  Is<Same<ProtocolError['code'], number>>,
  Is<Same<GatewayError['retryAfterMs'], number | undefined>>,
];
type Is<T extends true> = T;

export async function officialTransportsFit(transport: Transport): Promise<CallToolResult> {
  const server = createServer({ name: 'x', version: '1' });
  await server.connect(transport);
  await using client = await connect(transport);
  const off: () => void = client.on('resource', ({ uri }) => uri.toUpperCase());
  off();
  // @ts-expect-error there is no such kind of change
  client.on('weather', () => {});
  return client.callTool('x', { any: 'json' }, { onProgress: ({ progress }) => progress.toFixed(), task: true });
}

export const options: ConnectOptions = {
  onElicit: (request: ElicitRequestParams, { server, signal }): ElicitResult => {
    signal.throwIfAborted();
    return { action: 'accept', content: { asked: request.message, by: server?.name ?? '' } };
  },
  onSample: async (request: CreateMessageRequestParams): Promise<CreateMessageResult> => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: `${request.messages.length} messages` },
  }),
  approve(kind, details) {
    if (details.kind === 'tools/call') return details.annotations?.destructiveHint !== true;
    return kind !== 'sampling';
  },
};

// @ts-expect-error an address is a URL, a command or a transport
void connect({ host: 'localhost' });
// @ts-expect-error an elicitation is accepted, declined or cancelled
export const wrong: ConnectOptions = { onElicit: () => ({ action: 'maybe' }) };

/** Mounts into what others made, by their own types: Node's handler into Hono on Node, the web-standard one into Hono anywhere. */
export function mount(hono: Hono<{ Bindings: HttpBindings }>): Hono {
  const endpoint = createServer({ name: 'mounted', version: '1' }).endpoint({ path: '/api/mcp' });
  hono.all('/node', ({ env: { incoming, outgoing }, body }) => {
    endpoint.handle(incoming, outgoing);
    return body(null);
  });
  return new Hono().all('/api/*', (context) => endpoint.fetch(context.req.raw)).mount('/other', endpoint.fetch);
}

/** What is global in Node is undici's. */
export type Web = [Is<UndiciRequest extends Request ? true : false>];

/** The answer to a form that a step puts has the type of the schema, written in place or before. */
export const asking: Step = onCall(async (exchange, next) => {
  const answer = await exchange.ask({
    method: 'elicitation/create',
    params: {
      message: 'Which?',
      requestedSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' }, seat: { enum: ['aisle', 'window'] } },
        required: ['city'],
      },
    },
  });
  if (answer.action !== 'accept') return next();
  const { city, days, seat } = answer.content;
  const read: [
    Is<Same<typeof city, string>>,
    Is<Same<typeof days, number | undefined>>,
    Is<Same<typeof seat, 'aisle' | 'window' | undefined>>,
  ] = [true, true, true];
  exchange.gatewayLog.debug({ read }, 'types');
  return next();
});
