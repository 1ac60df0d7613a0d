// The tools of the servers. Most of them do what their arguments say, so that a behaviour and what it needs stand together.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CONTENT, STRUCTURED } from './results.mjs';

const TASK_MS = 60_000;
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

export const TOOLS = {
  content: ({ kinds }) => ({ content: kinds.map((kind) => CONTENT[kind]) }),
  structured: () => ({ ...text(STRUCTURED), structuredContent: STRUCTURED }),
  meta: () => ({ ...text('see _meta'), _meta: { 'com.example/result': { a: [null, 1] }, plain: 'ü' } }),
  unknown_members: () => ({ ...text('see members'), 'x-result': { kept: true }, another: null }),
  unknown_kind: () => ({ content: [{ type: 'hologram', data: [1], 'x-more': {} }] }),
  failed: () => ({ ...text('It failed'), isError: true, _meta: { 'com.example/failed': 1 } }),
  empty: () => ({ content: [] }),
  no_content: () => ({ structuredContent: { only: 'this' } }),
  nothing: () => ({}),
  echo: (args) => text(args),
  big: ({ kilobytes }) => text('0123456789abcde\n'.repeat(kilobytes * 64)),
  'odd.name/with:signs-and_more': () => text('odd'),
  refuse({ code, message, data, bare }, call) {
    throw bare ? call.fail(code, message) : call.fail(code, message, data);
  },

  async progress({ steps }, call) {
    const { progressToken } = call.meta ?? {};
    for (const step of steps) await call.notify('notifications/progress', { progressToken, ...step });
    return text(progressToken === undefined ? 'no token' : typeof progressToken);
  },
  async log({ entries, related = true }, call) {
    for (const entry of entries) await (related ? call.notify : call.push)('notifications/message', entry);
    return text('logged');
  },
  async log_by_level({ levels }, call) {
    for (const level of levels) await call.log(level, `at ${level}`);
    return text('logged');
  },
  async notify({ method, params, related = true }, call) {
    await (related ? call.notify : call.push)(method, params);
    return text('notified');
  },
  /** After the answer, on the stream of the connection. */
  later({ method, params }, call) {
    call.onceAnswered(() => call.push(method, params));
    return text('later');
  },
  async in_order(_args, call) {
    const { progressToken } = call.meta ?? {};
    await call.notify('notifications/progress', { progressToken, progress: 1 });
    await call.notify('notifications/message', { level: 'error', data: 'between' });
    await call.notify('notifications/progress', { progressToken, progress: 2 });
    return text('last');
  },

  /** Until the caller cancels; the harness is told the reason. */
  wait: (_args, call) =>
    new Promise((resolve) => {
      call.record({ waiting: true });
      const stop = () => {
        call.record({ aborted: true, reason: reasonOf(call.signal.reason) });
        resolve(text('aborted'));
      };
      if (call.signal.aborted) stop();
      else call.signal.addEventListener('abort', stop);
    }),

  async ask({ method, params, progress }, call) {
    let isTold = false;
    const how = { timeout: 30_000, ...(progress && { onprogress: () => (isTold = true) }) };
    const answer = await outcome(() => call.ask(method, params, how));
    return text(progress ? { ...answer, isTold } : answer);
  },
  /** Asks, and takes the question back. */
  async ask_briefly({ method, params, reason, flag }, call) {
    const abort = new AbortController();
    const asked = outcome(() => call.ask(method, params, { signal: abort.signal, timeout: 30_000 }));
    await untilThere(flag);
    abort.abort(reason);
    await asked;
    return text('taken back');
  },

  rounds({ rounds, state }, call) {
    if (!call.input) throw call.fail(-32603, 'This SDK cannot ask by a result');
    const { responses, state: came, ask } = call.input;
    const round = came ? Number(came.split(' ').at(-1)) : 0;
    if (round > 0) call.record({ answered: responses });
    if (round === rounds.length) return text({ last: responses });
    return ask(rounds[round], `${state ?? 'round ü'} ${round + 1}`);
  },

  async work(_args, call, { task }) {
    if (!task || !call.createTask) return text('worked at once');
    return call.createTask(
      { ttl: task.ttl ?? TASK_MS, pollInterval: 50 },
      { ...text('worked'), _meta: { 'com.example/worked': 1 } },
    );
  },
};

async function outcome(work) {
  try {
    return { result: await work() };
  } catch (error) {
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
}

/** The client makes this file when it has been asked: nothing on the wire tells the server. */
async function untilThere(file) {
  for (let tries = 0; tries < 1000 && !existsSync(file); tries++) await delay(20);
}

function reasonOf(reason) {
  return typeof reason === 'string' ? reason : (reason?.message ?? String(reason));
}
