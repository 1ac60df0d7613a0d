// Questions that are a result: input_required of SDK v2, which pushes them itself towards a handshake client.
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
const ELICIT = ['elicitation/create', { mode: 'form', ...FORM }];
const PAGE = [
  'elicitation/create',
  { mode: 'url', message: 'Sign in', url: 'https://example.com/in', elicitationId: 'e-9' },
];
const SAMPLE = [
  'sampling/createMessage',
  { messages: [{ role: 'user', content: { type: 'text', text: 'Two?' } }], maxTokens: 9 },
];
const ROOTS = ['roots/list', {}];
const ANSWERS = {
  'elicitation/create': ({ mode }) =>
    mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'Grace' } },
  'sampling/createMessage': () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Four' },
    model: 'm',
    stopReason: 'endTurn',
  }),
  'roots/list': () => ({ roots: [{ uri: 'file:///work', name: 'Work' }] }),
};
const v2 = { only: ({ server }) => server === 'v2' };

export const ROUNDS = [
  ['input_required: elicitation', rounds([{ who: ELICIT }]), v2],
  ['input_required: elicitation by URL', rounds([{ page: PAGE }]), v2],
  ['input_required: sampling', rounds([{ model: SAMPLE }]), v2],
  ['input_required: roots', rounds([{ where: ROOTS }]), v2],
  ['input_required: three at once', rounds([{ who: ELICIT, model: SAMPLE, where: ROOTS }]), v2],
  ['input_required: two rounds', rounds([{ who: ELICIT }, { where: ROOTS }]), v2],
  [
    'input_required: requestState as the client gets it',
    async (peer) => {
      peer.answers = ANSWERS;
      const { result } = await peer.call('rounds', { rounds: [{ who: ELICIT }], state: 'own state ü' });
      return { result, came: peer.got('tools/call').map(({ requestState }) => requestState) };
    },
    { only: ({ server, era }) => server === 'v2' && era === 'stateless' },
  ],
  [
    'input_required in a prompt',
    async (peer) => {
      peer.answers = ANSWERS;
      return { result: await peer.request('prompts/get', { name: 'ask' }), asked: peer.asked };
    },
    v2,
  ],
];

function rounds(list) {
  return async (peer) => {
    peer.answers = ANSWERS;
    const result = await peer.call('rounds', { rounds: list });
    return { result, asked: peer.asked, events: peer.events };
  };
}
