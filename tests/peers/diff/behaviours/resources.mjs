// Resources, prompts and completion.
const read = (uri) => (peer) => peer.request('resources/read', { uri });

export const RESOURCES = [
  ['read: text, _meta, unknown members', read('text://one')],
  ['read: blob', read('blob://two')],
  ['read: several contents', read('text://several')],
  ['read: no contents', read('text://empty')],
  ['read: ui://', read('ui://shown/index.html')],
  ['read: a URI of a template, with odd signs', read('text://by/a%20b/ü?q=1&r=%2F#part')],
  [
    'read: _meta at the server',
    async (peer) => {
      await peer.request('resources/read', { uri: 'text://one', _meta: { 'com.example/read': 1 } });
      return peer.got('resources/read');
    },
  ],
  [
    'prompt: all kinds of content',
    (peer) => peer.request('prompts/get', { name: 'everything', arguments: { who: 'Ada' } }),
  ],
  ['prompt: without arguments', (peer) => peer.request('prompts/get', { name: 'everything' })],
  [
    'completion of a prompt',
    complete({ type: 'ref/prompt', name: 'everything', title: 'Everything' }, { name: 'who', value: 'A' }),
  ],
  [
    'completion of a template, with context',
    complete(
      { type: 'ref/resource', uri: 'text://{author}/{+path}{?q*}' },
      { name: 'path', value: '' },
      { arguments: { author: 'Ada' } },
    ),
  ],
  [
    'completion at the server',
    async (peer) => {
      await complete(
        { type: 'ref/prompt', name: 'everything' },
        { name: 'who', value: 'A' },
        { arguments: { how: 'x' } },
      )(peer);
      return peer.got('completion/complete');
    },
  ],
  [
    'subscribe: the handler is called',
    async (peer) => {
      const subscription = await peer.subscribe('text://one');
      const came = await peer.untilGot('resources/subscribe');
      await subscription.close();
      return came;
    },
    { only: ({ era }) => era === 'handshake', isBridged: true },
  ],
  [
    'subscribe: _meta at the server',
    async (peer) => {
      await peer.request('resources/subscribe', { uri: 'text://five', _meta: { 'com.example/why': 'to know' } });
      return peer.untilGot('resources/subscribe');
    },
    { only: ({ era }) => era === 'handshake' },
  ],
  [
    'subscribe: its result',
    (peer) => peer.request('resources/subscribe', { uri: 'text://two' }),
    { only: ({ era }) => era === 'handshake' },
  ],
  [
    'unsubscribe: the handler is called',
    async (peer) => {
      const subscription = await peer.subscribe('text://three');
      await subscription.close();
      return peer.until('resources/unsubscribe', () =>
        peer.got('resources/unsubscribe').filter(({ uri }) => uri === 'text://three'),
      );
    },
    { only: ({ era }) => era === 'handshake', isBridged: true },
  ],
  [
    'updated: with _meta',
    (peer) =>
      updated(peer, 'text://four', { uri: 'text://four', _meta: { 'com.example/updated': [1] }, 'x-updated': 1 }),
  ],
  [
    'updated: a URI nobody subscribed to',
    async (peer) => {
      await peer.call('notify', {
        method: 'notifications/resources/updated',
        params: { uri: 'text://nobody' },
        related: false,
      });
      return peer.untilHeard('notifications/resources/updated');
    },
    { only: ({ era }) => era === 'handshake' },
  ],
  ...['tools', 'prompts', 'resources'].map((area) => [
    `${area}/list_changed`,
    async (peer) => {
      const watch = await peer.watchLists();
      const method = `notifications/${area}/list_changed`;
      await peer.call('notify', { method, params: { _meta: { 'com.example/changed': area } }, related: false });
      await peer.untilHeard(method);
      await watch.close();
      return peer.heard(method);
    },
  ]),
];

function complete(ref, argument, context) {
  return (peer) => peer.request('completion/complete', { ref, argument, ...(context && { context }) });
}

async function updated(peer, uri, params) {
  const subscription = await peer.subscribe(uri);
  await peer.call('notify', { method: 'notifications/resources/updated', params, related: false });
  const came = await peer.untilHeard('notifications/resources/updated');
  await subscription.close();
  return came;
}
