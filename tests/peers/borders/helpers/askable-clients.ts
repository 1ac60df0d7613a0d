// Clients of the official SDKs that support every kind of question, like those in editors.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

const WHO = { name: 'borders', version: '1.0.0' };
const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};
const TIMEOUT = { timeout: 120_000 };

export const ASKABLE = ['SDK v1', 'SDK v2, handshake'] as const;

interface AskableOptions {
  experimental?: Record<string, object>;
  /** It answers forms, and says its roots, when this is over. */
  thinking?: Promise<void>;
}

interface CallOptions {
  args?: Record<string, unknown>;
  meta?: Record<string, unknown>;
  signal?: AbortSignal;
}

/** `heard` holds the notifications that belong to no call. */
export async function connectAskable(
  kind: (typeof ASKABLE)[number] | 'SDK v2, 2026-07-28',
  url: string,
  { experimental, thinking }: AskableOptions = {},
) {
  const heard: string[] = [];
  const asked: string[] = [];
  const capabilities = { ...CAPABILITIES, ...(experimental && { experimental }) };
  const elicited = async () => {
    await thinking;
    return { action: 'accept' as const, content: { city: 'Oslo' } };
  };
  const sampled = () => ({
    model: 'm',
    role: 'assistant' as const,
    stopReason: 'endTurn',
    content: { type: 'text' as const, text: 'said' },
  });
  const rooted = async () => {
    await thinking;
    return { roots: [{ uri: 'file:///here' }] };
  };
  const noted = (method: string) => void asked.push(method);
  if (kind === 'SDK v1') {
    const client = new ClientV1(WHO, { capabilities });
    client.setRequestHandler(types.ElicitRequestSchema, () => (noted('elicitation'), elicited()));
    client.setRequestHandler(types.CreateMessageRequestSchema, () => (noted('sampling'), sampled()));
    client.setRequestHandler(types.ListRootsRequestSchema, () => (noted('roots'), rooted()));
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    const transport = new TransportV1(new URL(url));
    await client.connect(transport);
    return {
      client,
      heard,
      asked,
      call: async (name: string, { signal, ...params }: CallOptions = {}) =>
        textOf(await client.callTool({ name, ...toParams(params) }, undefined, { ...TIMEOUT, signal })),
      list: async () => (await client.listTools(undefined, TIMEOUT)).tools.map(({ name }) => name),
      [Symbol.asyncDispose]: () => client.close(),
    };
  }
  const mode = kind === 'SDK v2, handshake' ? 'legacy' : { pin: '2026-07-28' };
  const client = new ClientV2(WHO, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', () => (noted('elicitation'), elicited()));
  client.setRequestHandler('sampling/createMessage', () => (noted('sampling'), sampled()));
  client.setRequestHandler('roots/list', () => (noted('roots'), rooted()));
  client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
  await client.connect(new TransportV2(new URL(url)));
  return {
    client,
    heard,
    asked,
    call: async (name: string, { signal, ...params }: CallOptions = {}) =>
      textOf(await client.callTool({ name, ...toParams(params) }, { ...TIMEOUT, signal })),
    list: async () => (await client.listTools(undefined, TIMEOUT)).tools.map(({ name }) => name),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export type AskableClient = Awaited<ReturnType<typeof connectAskable>>;

function toParams({ args = {}, meta }: CallOptions) {
  return { arguments: args, ...(meta && { _meta: meta }) };
}

function textOf({ content }: { content?: unknown }): string {
  const [block] = content as { text: string }[];
  return block.text;
}
