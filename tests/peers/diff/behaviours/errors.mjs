// Custom errors of the server: code, message and data.
const refuse = (code, message, data) => (peer) => peer.call('refuse', { code, message, data });
const URL_NEEDED = {
  elicitations: [{ mode: 'url', message: 'Sign in', url: 'https://example.com/in', elicitationId: 'e-1' }],
};

export const ERRORS = [
  ['error: a code of the server', refuse(-31234, 'Out of paper', { tray: 2, 'x-deep': [null] })],
  ['error: a positive code', refuse(42, 'Forty-two', ['a', 1])],
  ['error: -32602 with data', refuse(-32602, 'The date lies in the past', { field: 'date' })],
  ['error: -32603', refuse(-32603, 'The database is closed', 'try later')],
  ['error: -32601 for a tool', refuse(-32601, 'Not on this plan')],
  ['error: -32600', refuse(-32600, 'Not like this')],
  ['error: -32000', refuse(-32000, 'Something of the server', { a: 1 })],
  ['error: -32001', refuse(-32001, 'A code that SDKs use for themselves', { a: 1 })],
  ['error: data null', refuse(-31001, 'With null', null)],
  ['error: data false', refuse(-31001, 'With false', false)],
  ['error: without data', (peer) => peer.call('refuse', { code: -31001, message: 'Bare', bare: true })],
  ['error: an empty message', (peer) => peer.call('refuse', { code: -31001, message: '', bare: true })],
  ['error: unknown tool', (peer) => peer.call('not_there', {})],
  ['error: unknown prompt', (peer) => peer.request('prompts/get', { name: 'not_there' })],
  ['error: resource not found, -32002', (peer) => peer.request('resources/read', { uri: 'old://x' })],
  ['error: resource not found, -32602', (peer) => peer.request('resources/read', { uri: 'new://x' })],
  ['error: unknown method', (peer) => peer.request('com.example/unknown', {})],
  [
    'error: completion refused',
    (peer) =>
      peer.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'everything' },
        argument: { name: 'unknown', value: '' },
      }),
  ],
  [
    'error: -32042 URL elicitation required',
    refuse(-32042, 'Sign in first', URL_NEEDED),
    { only: ({ era }) => era === 'handshake' },
  ],
];
