// Clients of the official SDKs behind one interface, some of which can be asked.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export interface GuestOptions {
  sdk: 'v1' | 'v2' | 'v2, 2026-07-28';
  isAskable: boolean;
}

export interface Told {
  text: string;
  isError: boolean;
  /** Of the question that was told in the place of a result. */
  handle: string | undefined;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
  onprogress?: (progress: { message?: string | undefined }) => void;
}

/** What reaches a client beside the results of its calls. */
export interface Ears {
  onAsk(message: string): Promise<Answer>;
  onNotification(notification: unknown): void;
}

export interface Answer {
  action: 'accept' | 'decline';
  content?: { pin: string };
}

export interface Guest {
  name: string;
  isAskable: boolean;
  call(tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<Told>;
  /** Without a word, or after it has ended its session. */
  leave(how: 'vanish' | 'end'): Promise<void>;
}

interface Called {
  content?: unknown;
  isError?: unknown;
  _meta?: Record<string, unknown> | undefined;
}

export async function connectGuest(
  url: string,
  name: string,
  { sdk, isAskable }: GuestOptions,
  ears: Ears,
): Promise<Guest> {
  const who = { name, version: '1' };
  const capabilities = isAskable ? { elicitation: { form: {} }, roots: {} } : {};
  const roots = () => ({ roots: [{ uri: `file:///${name}` }] });
  const requestInit = { headers: { 'x-user': name } };
  if (sdk === 'v1') {
    const client = new ClientV1(who, { capabilities });
    if (isAskable) {
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await ears.onAsk(params.message)) }));
      client.setRequestHandler(ListRootsRequestSchema, roots);
    }
    client.fallbackNotificationHandler = async (notification) => ears.onNotification(notification);
    const transport = new TransportV1(new URL(url), { requestInit });
    await client.connect(transport);
    const callTool = (params: { name: string; arguments: Record<string, unknown> }, options: CallOptions) =>
      client.callTool(params, undefined, options);
    return guest(name, isAskable, client, transport, callTool);
  }
  const mode = sdk === 'v2' ? 'legacy' : { pin: '2026-07-28' };
  const client = new ClientV2(who, { capabilities, versionNegotiation: { mode } });
  if (isAskable) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await ears.onAsk(params.message)) }));
    client.setRequestHandler('roots/list', roots);
  }
  client.fallbackNotificationHandler = async (notification) => ears.onNotification(notification);
  const transport = new TransportV2(new URL(url), { requestInit });
  await client.connect(transport);
  return guest(name, isAskable, client, transport, (params, options) => client.callTool(params, options));
}

function guest(
  name: string,
  isAskable: boolean,
  client: { close(): Promise<void> },
  transport: { terminateSession(): Promise<void> },
  callTool: (params: { name: string; arguments: Record<string, unknown> }, options: CallOptions) => Promise<Called>,
): Guest {
  return {
    name,
    isAskable,
    async call(tool, args, options = {}) {
      const result = await callTool({ name: tool, arguments: args }, { timeout: 120_000, ...options });
      const text = (result.content as { text?: string }[]).map((block) => block.text ?? '').join('\n');
      const handle = result._meta?.['mcp-parley/handle'];
      return { text, isError: result.isError === true, handle: handle === undefined ? undefined : String(handle) };
    },
    async leave(how) {
      if (how === 'end') await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}
