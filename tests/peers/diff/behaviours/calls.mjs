// Calls: what the server receives, and what the client gets back.
const ARGUMENTS = {
  text: 'ü \u0000 \u2028 😀 \\ "',
  '': { ' ': null },
  deep: [[{ a: [true, false, 0, -1.5, 1e21, 1e-7] }]],
  constructor: 'x',
  'with.dot/and~tilde': [],
};

export const CALLS = [
  ...['text', 'image', 'audio', 'embedded', 'blob', 'link'].map((kind) => [
    `content: ${kind}`,
    (peer) => peer.call('content', { kinds: [kind] }),
  ]),
  ['content: several kinds', (peer) => peer.call('content', { kinds: ['text', 'link', 'text', 'audio'] })],
  ['content: a kind that no revision has', (peer) => peer.call('unknown_kind', {})],
  ['content: empty', (peer) => peer.call('empty', {})],
  ['content: missing', (peer) => peer.call('no_content', {})],
  ['an empty result', (peer) => peer.call('nothing', {})],
  ['structuredContent', (peer) => peer.call('structured', {})],
  ['result: _meta', (peer) => peer.call('meta', {})],
  ['result: unknown members', (peer) => peer.call('unknown_members', {})],
  ['result: isError', (peer) => peer.call('failed', {})],
  ['result of 1 MB', async (peer) => (await peer.call('big', { kilobytes: 1024 })).result?.content[0].text.length],
  ['tool with an odd name', (peer) => peer.call('odd.name/with:signs-and_more', {})],
  ['arguments at the server', (peer) => sent(peer, { arguments: ARGUMENTS })],
  ['arguments: none', (peer) => sent(peer, {})],
  ['arguments: empty', (peer) => sent(peer, { arguments: {} })],
  [
    'arguments of 200 kB',
    async (peer) => (await sent(peer, { arguments: { long: 'x'.repeat(200_000) } })).arguments.long.length,
  ],
  ['request: unknown members at the server', (peer) => sent(peer, { arguments: {}, 'x-params': { kept: [null] } })],
  [
    'request: _meta at the server',
    (peer) =>
      sent(peer, {
        arguments: {},
        _meta: {
          'com.example/trace': { a: [1, null] },
          plain: 'ü',
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        },
      }),
  ],
  [
    'request: no progress token that the client did not send',
    async (peer) => (await sent(peer, { arguments: {} }))._meta?.progressToken ?? 'none',
  ],
  ['request: its progress token', (peer) => sent(peer, { arguments: {} }, { progress: true })],
  [
    'calls side by side',
    async (peer) => {
      const answers = await Promise.all([5, 4, 3, 2, 1].map((number) => peer.resultOf('echo', { number })));
      return answers.map(({ content }) => content[0].text);
    },
  ],
  ['custom request', (peer) => peer.request('com.example/echo', { a: [1], _meta: { 'com.example/own': 1 } })],
  ['custom request without params', (peer) => peer.request('com.example/echo')],
  ['custom request: an error', (peer) => peer.request('com.example/refuse', {})],
  [
    'custom request at the server',
    async (peer) => {
      await peer.request('com.example/echo', { a: { b: null }, _meta: { 'com.example/own': 1 } });
      return peer.got('com.example/echo');
    },
  ],
  [
    'custom notification at the server',
    async (peer) => {
      await peer.notify('notifications/com.example/said', { a: [1, null], _meta: { 'com.example/own': 1 } });
      return peer.untilGot('notifications/com.example/said');
    },
  ],
  [
    'roots/list_changed at the server',
    async (peer) => {
      await peer.notify('notifications/roots/list_changed', { _meta: { 'com.example/own': 1 } });
      return peer.untilGot('notifications/roots/list_changed');
    },
    { only: ({ era }) => era === 'handshake' },
  ],
  [
    'cancel: the reason',
    async (peer) => {
      const abort = new AbortController();
      const call = peer.call('wait', {}, { signal: abort.signal });
      await peer.untilEvent('waiting');
      abort.abort('I changed my mind');
      await call;
      return peer.untilEvent('aborted');
    },
  ],
  [
    'cancel: a call goes on after it',
    async (peer) => {
      const abort = new AbortController();
      const call = peer.call('wait', {}, { signal: abort.signal });
      await peer.untilEvent('waiting');
      abort.abort('enough');
      await call;
      return peer.call('echo', { after: 1 });
    },
  ],
];

async function sent(peer, params, options) {
  await peer.request('tools/call', { name: 'echo', ...params }, options);
  return peer.got('tools/call').at(-1);
}
