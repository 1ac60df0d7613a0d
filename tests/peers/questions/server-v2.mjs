// A server of the stateless era that asks: it ends the call with questions, and is called again with the answers. What it
// has learnt in earlier rounds travels in its state. Official SDK v2.
import { McpServer, inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { AT_ONCE, ROUNDS } from './asked.mjs';
import { tell } from './events.mjs';

const BUILD = {
  'elicitation/create': (params) =>
    params.mode === 'url' ? inputRequired.elicitUrl(params) : inputRequired.elicit(params),
  'sampling/createMessage': (params) => inputRequired.createMessage(params),
  'roots/list': () => inputRequired.listRoots(),
};

export function createV2(events) {
  const server = new McpServer({ name: 'asks', version: '1.0.0' });
  const tool = (name, handler) => {
    const inputSchema = z.object({ kind: z.string(), key: z.string() });
    server.registerTool(name, { inputSchema }, async ({ kind, key }, { mcpReq }) => {
      await tell(events, key, 'called');
      return handler(kind, mcpReq);
    });
  };
  tool('ask', (kind, { inputResponses }) => {
    const questions = Object.entries(AT_ONCE[kind]);
    if (inputResponses) return text(inputResponses);
    const built = questions.map(([key, [method, params]]) => [key, BUILD[method](params)]);
    return inputRequired({ inputRequests: Object.fromEntries(built) });
  });
  tool('ask_in_rounds', (_kind, { inputResponses, requestState }) => {
    const answers = [...JSON.parse(requestState() ?? '[]'), ...(inputResponses ? [inputResponses.it] : [])];
    if (answers.length === ROUNDS.length) return text(answers);
    const it = inputRequired.elicit(ROUNDS[answers.length]);
    return inputRequired({ inputRequests: { it }, requestState: JSON.stringify(answers) });
  });
  return server;
}

const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
