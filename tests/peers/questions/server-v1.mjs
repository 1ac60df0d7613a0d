// A server of the handshake era that asks: it sends requests to its client and waits for the answers. Official SDK v1.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { AT_ONCE, FORM, ROUNDS } from './asked.mjs';
import { tell } from './events.mjs';

/** Longer than anybody waits here. */
const PATIENCE_MS = 600_000;
/** Of the tool that gives up. */
const IMPATIENCE_MS = 1000;

export function createV1(events) {
  const server = new McpServer({ name: 'asks', version: '1.0.0' });
  const tool = (name, handler) =>
    server.registerTool(name, { inputSchema: { kind: z.string(), key: z.string() } }, async ({ kind, key }, extra) => {
      const onCalledOff = () => tell(events, key, 'called off');
      extra.signal.addEventListener('abort', onCalledOff);
      await tell(events, key, 'called');
      const options = { relatedRequestId: extra.requestId, signal: extra.signal, timeout: PATIENCE_MS };
      const answered = await handler(kind, options).catch(async (error) => {
        // That the question is over, and that the call is, come by requests of their own: either may be first.
        if (/Request cancelled/.test(error.message)) await onCalledOff();
        throw error;
      });
      return { content: [{ type: 'text', text: JSON.stringify(answered) }] };
    });
  tool('ask', async (kind, options) => {
    const asked = Object.entries(AT_ONCE[kind]).map(async ([key, question]) => [
      key,
      await put(server, question, options),
    ]);
    return Object.fromEntries(await Promise.all(asked));
  });
  tool('ask_in_rounds', async (_kind, options) => {
    const answers = [];
    for (const form of ROUNDS) answers.push(await server.server.elicitInput(form, options));
    return answers;
  });
  tool('ask_impatiently', (_kind, options) =>
    server.server
      .elicitInput(FORM, { ...options, timeout: IMPATIENCE_MS })
      .catch(({ message }) => ({ gaveUp: message })),
  );
  return server;
}

function put({ server }, [method, params], options) {
  if (method === 'roots/list') return server.listRoots(undefined, options);
  if (method === 'sampling/createMessage') return server.createMessage(params, options);
  return server.elicitInput(
    params.mode === 'url' ? { ...params, elicitationId: `${options.relatedRequestId}-page` } : params,
    options,
  );
}
