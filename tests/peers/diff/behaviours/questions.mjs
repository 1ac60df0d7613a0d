// Requests of a server to its client, pushed in the handshake era.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FORM = {
  mode: 'form',
  message: 'Who are you? ü',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, default: 'Ada' },
      size: {
        type: 'string',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
      },
      count: { type: 'integer', minimum: 0, maximum: 9, default: 3 },
    },
    required: ['name'],
  },
};
const PAGE = { mode: 'url', message: 'Sign in', url: 'https://example.com/sign-in?a=1&b=%20', elicitationId: 'e-1' };
const SAMPLE = {
  messages: [
    {
      role: 'user',
      content: {
        type: 'text',
        text: 'Two and two?',
        annotations: { priority: 1 },
        _meta: { 'com.example/message': 1 },
      },
    },
    { role: 'assistant', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
  ],
  systemPrompt: 'Be brief',
  maxTokens: 99,
  temperature: 0.25,
  stopSequences: ['\n'],
  includeContext: 'none',
  modelPreferences: { hints: [{ name: 'small' }], costPriority: 0.5, speedPriority: 1, intelligencePriority: 0 },
  metadata: { provider: { a: [1] } },
};
const TOOLS = {
  tools: [{ name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } }],
  toolChoice: { mode: 'auto' },
};
const META = { _meta: { 'com.example/asked': { a: [1] } } };
const ANSWER = { role: 'assistant', content: { type: 'text', text: 'Four' }, model: 'small-1', stopReason: 'endTurn' };
const TOOL_USE = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'u1', name: 'add', input: { a: 2 } }],
  model: 'small-1',
  stopReason: 'toolUse',
};
const ROOTS = {
  roots: [{ uri: 'file:///work', name: 'Work', _meta: { 'com.example/root': 1 } }, { uri: 'file:///tmp/%C3%BC' }],
};

const accept = () => ({ action: 'accept', content: { name: 'Grace', size: 'l', count: 4 } });
const handshake = { only: ({ era }) => era === 'handshake' };
const elicit = 'elicitation/create';
const sample = 'sampling/createMessage';

export const QUESTIONS = [
  ['elicitation: accepted', asks(elicit, FORM, accept)],
  ['elicitation: declined', asks(elicit, FORM, () => ({ action: 'decline' }))],
  ['elicitation: cancelled', asks(elicit, FORM, () => ({ action: 'cancel' }))],
  [
    'elicitation: _meta of question and answer',
    asks(elicit, { ...FORM, ...META }, () => ({ ...accept(), _meta: { 'com.example/answer': 1 } })),
  ],
  ['elicitation without mode', asks(elicit, { message: FORM.message, requestedSchema: FORM.requestedSchema }, accept)],
  ['elicitation by URL', asks(elicit, PAGE, () => ({ action: 'accept' }))],
  ['sampling', asks(sample, SAMPLE, () => ANSWER)],
  [
    'sampling: _meta of question and answer',
    asks(sample, { ...SAMPLE, ...META }, () => ({ ...ANSWER, _meta: { 'com.example/answer': [1] } })),
  ],
  ['sampling with tools', asks(sample, { ...SAMPLE, ...TOOLS }, () => TOOL_USE)],
  ['roots', asks('roots/list', undefined, () => ROOTS)],
  [
    'roots: _meta of question and answer',
    asks('roots/list', META, () => ({ ...ROOTS, _meta: { 'com.example/answer': 1 } })),
  ],
  ['ping of the server', asks('ping', undefined, () => ({})), handshake],
  [
    'custom request of the server',
    asks('com.example/client', { a: [1, null], ...META }, (params) => ({
      got: params,
      _meta: { 'com.example/own': 1 },
    })),
    handshake,
  ],
  [
    'custom request of the server: an error',
    asks('com.example/client', {}, () => fail(-31555, 'Not today', { why: [1] })),
    handshake,
  ],
  ['a question the client refuses', asks(elicit, FORM, () => fail(-31777, 'I am busy', { until: 'noon' })), handshake],
  ['a question the client does not know', asks('com.example/unknown', {}), handshake],
  ['progress of the client on a question', progressOnQuestion, handshake],
  ['a question is taken back, with a reason', takenBack, handshake],
  [
    'two questions, one after the other',
    async (peer) => {
      peer.answers = { [elicit]: accept, 'roots/list': () => ROOTS };
      return {
        first: await peer.call('ask', { method: elicit, params: FORM }),
        second: await peer.call('ask', { method: 'roots/list' }),
        asked: peer.asked,
      };
    },
  ],
];

function asks(method, params, answer) {
  return async (peer) => {
    if (answer) peer.answers = { [method]: answer };
    const result = await peer.call('ask', { method, ...(params && { params }) });
    return { result, asked: peer.asked };
  };
}

/** The SDK forgets progress that arrives together with the answer, so the answer waits for it. */
async function progressOnQuestion(peer) {
  const told = () => peer.got('notifications/progress').map(({ progressToken: _, ...step }) => step);
  peer.answers = {
    async [sample](_params, { progress }) {
      await progress({ progress: 1, total: 2, message: 'thinking ü' });
      await progress({ progress: 2, total: 2, _meta: { 'com.example/progress': 1 } });
      await peer.until('progress at the server', () => told().length === 2);
      return ANSWER;
    },
  };
  const result = await peer.call('ask', { method: sample, params: SAMPLE, progress: true });
  return { result, asked: peer.asked, progress: told() };
}

async function takenBack(peer) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-diff-flag-'));
  const flag = join(folder, 'asked');
  let reason;
  peer.answers = {
    [elicit]: (_params, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reason = String(signal.reason?.message ?? signal.reason);
          resolve({ action: 'cancel' });
        });
        writeFileSync(flag, '');
      }),
  };
  const answer = await peer.call('ask_briefly', { method: elicit, params: FORM, reason: 'No longer needed', flag });
  await peer.until('the end of the question', () => reason);
  rmSync(folder, { recursive: true });
  return { answer, reason, told: peer.heard('notifications/cancelled').map(({ requestId: _, ...params }) => params) };
}

function fail(code, message, data) {
  throw Object.assign(new Error(message), { code, data });
}
