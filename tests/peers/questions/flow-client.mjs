// A client that speaks MCP Flow and cannot be asked anything else. `asked` has every prompt; `answer(question)` gives `{ value }`,
// `{ decline: true }`, `{ cancel: true }`, or never.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLog, dist } from '../harness/parley.mjs';

const { connect } = await import(pathToFileURL(join(dist, '_entries/index.js')).href);

export async function openFlow(url, revision, answer = async () => ({ value: 'the answer' })) {
  const asked = [];
  const told = new Map();
  const queueOf = (sessionId) => {
    if (!told.has(sessionId)) told.set(sessionId, queue());
    return told.get(sessionId);
  };
  const hear = (method) => (params) => {
    queueOf(params.sessionId).put({ method, ...params });
    return method === 'interaction.complete' ? { success: true, finalResult: {} } : { acknowledged: true };
  };
  const requests = {
    'interaction.prompt': hear('interaction.prompt'),
    'interaction.complete': hear('interaction.complete'),
  };
  const client = await connect(url, { revision, requests, log: createLog({ level: 'error' }) });

  async function call(toolName, initialParams, { timeout } = {}) {
    const start = { toolName, initialParams, ...(timeout && { timeout }) };
    const { sessionId, next } = await client.request('interaction.start', start);
    const told = queueOf(sessionId);
    if (next?.method) told.put(next);
    for (;;) {
      const { method, prompt, result, summary } = await told.take();
      if (method === 'interaction.complete') return toResult(result, summary);
      asked.push({ method, params: prompt });
      const said = await answer({ method, params: prompt });
      if (said.cancel) return client.request('interaction.cancel', { sessionId });
      const response = said.decline ? { value: null, metadata: { action: 'decline' } } : { value: said.value };
      const answered = await client.request('interaction.respond', { sessionId, response });
      if (answered.next?.method) told.put(answered.next);
    }
  }

  return { asked, call, leave: () => client.close() };
}

/** As the result of a call. */
function toResult({ success, data, error }, summary) {
  if (!success) return { isError: true, content: [{ type: 'text', text: error?.message ?? summary }] };
  return data;
}

function queue() {
  const waiting = [];
  const kept = [];
  return {
    put: (one) => (waiting.length > 0 ? waiting.shift()(one) : kept.push(one)),
    take: () => (kept.length > 0 ? kept.shift() : new Promise((resolve) => waiting.push(resolve))),
  };
}
