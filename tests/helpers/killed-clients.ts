// Clients that are killed during a call, over every transport: they call a tool that reports progress and does not
// answer, and are killed at the first progress.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { BOTH, openSocket, openStream, send } from './http-wire.ts';
import type { Answer, Json, Stream } from './http-wire.ts';
import { Wire, socketWire } from './line-wire.ts';
import { modern, openSession, rpc } from './mcp-http.ts';
import { within } from './until.ts';

export interface Ways {
  /** Ends in /mcp. */
  url: string;
  linesPort: number;
}

/** `tool` must report progress and not answer. */
export type Killed = (ways: Ways, tool: string) => Promise<void>;

export const KILLED_CLIENTS: Record<string, Killed> = {
  /** A session with a stream beside the call. */
  async http({ url }, tool) {
    const session = await openSession(url);
    const stream = await session.stream();
    const call = await session.callStream(tool, {});
    await call.until('progress', hasProgress);
    stream.close();
    call.close();
  },

  async stateless({ url }, tool) {
    const { headers, body } = modern('tools/call', { name: tool, arguments: {} }, { progressToken: 'p' });
    const call = await openStream(url, { method: 'POST', headers: { ...headers, accept: BOTH }, body });
    await call.until('progress', hasProgress);
    call.close();
  },

  async webSocket({ url }, tool) {
    const { wire, socket } = await socketWire(Number(new URL(url).port));
    await inCall(wire, tool);
    socket.terminate();
  },

  async sse({ url }, tool) {
    const stream = await openStream(url.replace('/mcp', '/sse'));
    await stream.until('the endpoint', ({ events }) => events.length > 0);
    const endpoint = new URL(stream.events[0]!.data!, url).href;
    await send(endpoint, { body: rpc('initialize', { protocolVersion: '2024-11-05' }) });
    await send(endpoint, { body: rpc('tools/call', toCall(tool)) });
    await stream.until('progress', hasProgress);
    stream.close();
  },

  /** As on stdio. */
  async lines({ linesPort }, tool) {
    const socket = connect(linesPort, '127.0.0.1').on('error', () => {});
    const wire = new Wire((text) => socket.write(`${text}\n`));
    createInterface({ input: socket }).on('line', (line) => wire.take(line));
    socket.once('close', () => wire.close());
    await inCall(wire, tool);
    socket.resetAndDestroy();
  },

  /** Can be asked, so it has its own connections; never returns. */
  async askable({ url }, tool) {
    const session = await openSession(url, { capabilities: { elicitation: {} } });
    const call = await session.callStream(tool, {});
    await call.until('progress', hasProgress);
    call.close();
  },

  async withinItsRequest({ url }, tool) {
    const socket = await openSocket(Number(new URL(url).port));
    const { headers, body } = modern('tools/call', { name: tool, arguments: {} });
    const lines = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': '1000' });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const half = `POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\n${head}\r\n${JSON.stringify(body).slice(0, 50)}`;
    await within('half a request to be sent', new Promise<void>((resolve) => socket.write(half, () => resolve())));
    socket.resetAndDestroy();
  },
};

async function inCall(wire: Wire, tool: string): Promise<void> {
  await wire.initialize();
  wire.write(rpc('tools/call', toCall(tool)));
  await wire.find('progress', isProgress);
}

function toCall(tool: string): Json {
  return { name: tool, arguments: {}, _meta: { progressToken: 'p' } };
}

function hasProgress({ messages }: Stream): boolean {
  return messages.some(isProgress);
}

function isProgress(message: Answer): boolean {
  return (message as { method?: string }).method === 'notifications/progress';
}
