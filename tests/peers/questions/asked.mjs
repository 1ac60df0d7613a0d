// What the servers of this suite ask, and what clients answer. Both sides of every cell rest on this page alone.

const fields = (name) => ({
  type: 'object',
  properties: { [name]: { type: 'string', minLength: 2 } },
  required: [name],
});

export const FORM = { mode: 'form', message: 'Which city?', requestedSchema: fields('city') };
export const OTHER_FORM = { mode: 'form', message: 'Whose name?', requestedSchema: fields('name') };
export const PAGE = { mode: 'url', message: 'Please log in', url: 'https://example.com/login?for=trip' };
export const SAMPLE = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Say something kind' } }],
  systemPrompt: 'Be brief',
  maxTokens: 10,
};
export const SAMPLE_WITH_TOOLS = {
  ...SAMPLE,
  tools: [
    { name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } },
  ],
  toolChoice: { mode: 'auto' },
};
/** One after the other. */
export const ROUNDS = ['First', 'Second', 'Third'].map((word) => ({
  mode: 'form',
  message: `${word}?`,
  requestedSchema: fields(word.toLowerCase()),
}));

/** What a tool asks at once, by key. */
export const AT_ONCE = {
  form: { it: ['elicitation/create', FORM] },
  url: { it: ['elicitation/create', PAGE] },
  sampling: { it: ['sampling/createMessage', SAMPLE] },
  'sampling with tools': { it: ['sampling/createMessage', SAMPLE_WITH_TOOLS] },
  roots: { it: ['roots/list', undefined] },
  'of three kinds': {
    form: ['elicitation/create', FORM],
    sample: ['sampling/createMessage', SAMPLE],
    roots: ['roots/list', undefined],
  },
  'two forms': { city: ['elicitation/create', FORM], name: ['elicitation/create', OTHER_FORM] },
};

/** What a user, a model or a client answers. */
export function answerTo(method, params) {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///srv/trip', name: 'Trip' }] };
  if (method === 'sampling/createMessage') return params.tools ? TOOL_USE : SAMPLED;
  if (params.mode === 'url') return { action: 'accept' };
  return { action: 'accept', content: contentFor(params.requestedSchema) };
}

export function contentFor({ properties }) {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, `the ${name}`]));
}

const SAMPLED = {
  role: 'assistant',
  model: 'kind-1',
  stopReason: 'endTurn',
  content: { type: 'text', text: 'Well done' },
};
const TOOL_USE = {
  role: 'assistant',
  model: 'kind-1',
  stopReason: 'toolUse',
  content: [{ type: 'tool_use', id: 't-1', name: 'look', input: { at: 'the sky' } }],
};
