// Clients of the official SDKs over Streamable HTTP, behind one interface.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const KINDS = ['SDK v1', 'SDK v2, handshake', 'SDK v2, 2026-07-28'] as const;
export type Kind = (typeof KINDS)[number];

export interface SdkOptions {
  /** What it offers, where it is of the handshake era. */
  revision?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** Comes back for a lost stream until it is there again, instead of giving up after two attempts. */
  isPatient?: boolean;
  /** How it can be asked, and what its user answers. */
  elicitation?: {
    capability: object;
    answer: (params: object) => Promise<{ action: 'accept' | 'decline'; content?: {} }>;
  };
}

const PATIENT = {
  reconnectionOptions: {
    initialReconnectionDelay: 100,
    maxReconnectionDelay: 100,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 600,
  },
};

/** A client that has connected. */
export async function connectSdk(kind: Kind, url: string, options: SdkOptions = {}) {
  const { revision = '2025-11-25', isPatient = false, elicitation } = options;
  const capabilities = elicitation ? { elicitation: elicitation.capability } : {};
  const settings = { ...(isPatient && PATIENT), ...(options.headers && { requestInit: { headers: options.headers } }) };
  const who = { name: 'borders', version: '1.0.0' };
  const errors: Error[] = [];
  if (kind === 'SDK v1') {
    const transport = new TransportV1(new URL(url), settings);
    const client = new ClientV1(who, { capabilities });
    if (elicitation) client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicitation.answer(params));
    client.onerror = (error) => void errors.push(error);
    await client.connect(asRevision(transport, revision));
    return face(client, transport, errors, (params, options) => client.callTool(params, undefined, options));
  }
  const transport = new TransportV2(new URL(url), settings);
  const isModern = kind === 'SDK v2, 2026-07-28';
  const client = new ClientV2(who, {
    capabilities,
    versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' },
    ...(!isModern && { supportedProtocolVersions: [revision] }),
  });
  if (elicitation) client.setRequestHandler('elicitation/create', ({ params }) => elicitation.answer(params));
  client.onerror = (error) => void errors.push(error);
  await client.connect(transport);
  return face(client, transport, errors, (params, options) => client.callTool(params, options));
}

export type SdkClient = Awaited<ReturnType<typeof connectSdk>>;

type Called = { content?: unknown };

function face<C extends ClientV1 | ClientV2, T extends TransportV1 | TransportV2>(
  client: C,
  transport: T,
  errors: Error[],
  callTool: (
    params: { name: string; arguments: Record<string, unknown> },
    options: { timeout: number; onresumptiontoken?: (token: string) => void },
  ) => Promise<Called>,
) {
  return {
    client,
    transport,
    errors,
    /** The text of a tool's answer. `onToken` is given the ids by which its stream can be resumed. */
    async call(name: string, args: Record<string, unknown> = {}, onToken?: (token: string) => void): Promise<string> {
      const options = { timeout: 120_000, ...(onToken && { onresumptiontoken: onToken }) };
      const { content } = await callTool({ name, arguments: args }, options);
      return (content as { text: string }[])[0].text;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** SDK v1 offers its newest revision only: an older one is written into the request. */
function asRevision(transport: TransportV1, revision: string): TransportV1 {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const first = Array.isArray(message) ? message[0] : message;
    if (first && 'method' in first && first.method === 'initialize') first.params!['protocolVersion'] = revision;
    return send(message, options);
  };
  return transport;
}
