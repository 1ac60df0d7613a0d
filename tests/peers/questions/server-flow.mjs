// A server that asks by MCP Flow alone, on stdio, written against the document and with nothing but Node: it pushes prompts, waits for
// `interaction.respond`, and pushes the end. Its tools cannot be called.
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';
import { FORM, ROUNDS } from './asked.mjs';
import { tell } from './events.mjs';

const VERSION = '0.1.0';
const TIMEOUT_MS = 300_000;
const validation = { required: true, min: 2 };
const PROMPTS = {
  ask: [{ type: 'text', message: FORM.message, validation }],
  ask_in_rounds: ROUNDS.map(({ message }) => ({ type: 'text', message, validation })),
};

export function serveFlow(events) {
  const sessions = new Map();
  let asked = 0;
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const push = (method, params) => send({ id: `flow-${++asked}`, method, params });
  const methods = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {}, experimental: { mcpFlow: { interactive: true, version: VERSION } } },
      serverInfo: { name: 'asks', version: '1.0.0' },
    }),
    ping: () => ({}),
    capabilities: () => ({ interactive: true, version: VERSION }),
    'tools/list': () => ({
      tools: Object.keys(PROMPTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
    }),
    async 'interaction.start'({ toolName, initialParams: { key }, timeout = TIMEOUT_MS }) {
      const session = {
        id: `session_${randomBytes(16).toString('hex')}`,
        key,
        prompts: PROMPTS[toolName],
        answers: [],
      };
      sessions.set(session.id, session);
      await tell(events, key, 'called');
      session.timer = setTimeout(() => end(session, 'expired'), timeout);
      setImmediate(() => goOn(session));
      return { sessionId: session.id, state: 'idle' };
    },
    'interaction.respond'({ sessionId, response: { value } }) {
      const session = find(sessionId);
      const isFit = typeof value === 'string' && value.length >= validation.min;
      if (isFit) session.answers.push(value);
      setImmediate(() => goOn(session));
      const error = 'At least 2 characters';
      return { accepted: isFit, validation: isFit ? { valid: true } : { valid: false, error } };
    },
    async 'interaction.cancel'({ sessionId }) {
      const session = find(sessionId);
      session.ended = 'cancelled';
      await end(session, 'called off');
      return { cancelled: true };
    },
    'interaction.getState'({ sessionId }) {
      const { prompts, answers } = find(sessionId);
      const metadata = { createdAt: 0, lastActivityAt: 0, toolName: '' };
      const currentPrompt = prompts[answers.length];
      return { sessionId, state: 'waiting_user', metadata, history: [], currentPrompt, accumulatedData: {} };
    },
  };

  function find(sessionId) {
    const session = sessions.get(sessionId);
    if (!session) throw Object.assign(new Error(`Session not found: ${sessionId}`), { code: -32001 });
    if (session.ended === 'expired') throw Object.assign(new Error(`Session expired: ${sessionId}`), { code: -32002 });
    return session;
  }

  async function end(session, event) {
    clearTimeout(session.timer);
    session.ended ??= event;
    await tell(events, session.key, event);
  }

  function goOn({ id: sessionId, prompts, answers, timer }) {
    const prompt = prompts[answers.length];
    if (prompt) return push('interaction.prompt', { sessionId, prompt });
    clearTimeout(timer);
    const told = prompts.length === 1 ? { it: answers[0] } : answers;
    const data = { content: [{ type: 'text', text: JSON.stringify(told) }] };
    return push('interaction.complete', { sessionId, result: { success: true, data } });
  }

  createInterface({ input: process.stdin })
    .on('line', async (line) => {
      const { id, method, params = {} } = JSON.parse(line);
      if (id === undefined || method === undefined) return;
      try {
        if (!methods[method]) throw Object.assign(new Error('Method not found'), { code: -32601 });
        send({ id, result: await methods[method](params) });
      } catch ({ code = -32603, message }) {
        send({ id, error: { code, message } });
      }
    })
    .on('close', () => process.exit(0));
}
