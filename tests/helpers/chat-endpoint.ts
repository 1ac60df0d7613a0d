// An HTTP server with OpenAI's chat completions API, whose answers the test chooses.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from 'mcp-parley';

export interface Posted {
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
}

export type Reply = (posted: Posted, response: ServerResponse) => void | Promise<void>;

export interface ChatEndpoint extends AsyncDisposable {
  url: string;
  posted: Posted[];
  reply: Reply;
}

export async function startChatEndpoint(reply: Reply): Promise<ChatEndpoint> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      const posted = { path: request.url ?? '', headers: request.headers, body };
      endpoint.posted.push(posted);
      void endpoint.reply(posted, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint: ChatEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    posted: [],
    reply,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

export function sendJson(response: ServerResponse, body: JsonObject, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A completion with this message. */
export function completion(message: JsonObject, finishReason = 'stop'): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'small-2',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
}
