// Notifications of a server.
const handshake = { only: ({ era }) => era === 'handshake' };

export const NOTIFICATIONS = [
  [
    'progress: progress, total, message',
    (peer) =>
      progress(peer, [
        { progress: 1, total: 4, message: 'a ü' },
        { progress: 2.5, total: 4, message: '' },
      ]),
  ],
  ['progress: without total', (peer) => progress(peer, [{ progress: 0 }, { progress: 1e6 }])],
  [
    'progress: _meta and unknown members',
    (peer) => progress(peer, [{ progress: 1, _meta: { 'com.example/progress': { a: 1 } }, 'x-progress': true }]),
  ],
  [
    'logging: an object, a logger, _meta',
    (peer) =>
      log(peer, [{ level: 'error', logger: 'a.b', data: { deep: [null, 1] }, _meta: { 'com.example/log': 1 } }]),
  ],
  [
    'logging: data of every JSON type',
    (peer) =>
      log(
        peer,
        ['text', '', 1.5, 0, true, false, null, [1, [2]], {}].map((data) => ({ level: 'warning', data })),
      ),
  ],
  [
    'logging: on the stream of the connection',
    (peer) => log(peer, [{ level: 'error', data: 'by itself', _meta: { 'com.example/log': 2 } }], { related: false }),
    handshake,
  ],
  [
    'logging: below the level',
    async (peer) => {
      const level = await peer.setLevel('error');
      await peer.call('log_by_level', { levels: ['debug', 'warning', 'error', 'critical'] });
      await peer.untilHeard('notifications/message', 2);
      peer.resetLevel();
      return { level, heard: peer.heard('notifications/message') };
    },
  ],
  [
    'logging/setLevel at the server',
    async (peer) => {
      await peer.setLevel('notice');
      return peer.got('logging/setLevel');
    },
    handshake,
  ],
  [
    'logging: a level that does not exist',
    (peer) => peer.request('logging/setLevel', { level: 'shouting' }),
    handshake,
  ],
  [
    'logging: after the answer',
    async (peer) => {
      await peer.setLevel('debug');
      await peer.call('later', {
        method: 'notifications/message',
        params: { level: 'error', data: 'late', _meta: { 'com.example/late': 1 } },
      });
      return peer.untilHeard('notifications/message');
    },
    handshake,
  ],
  [
    'order of progress, log and answer',
    async (peer) => {
      await peer.setLevel('debug');
      const answer = await peer.call('in_order', {}, { progress: true });
      peer.resetLevel();
      return { heard: peer.heardInOrder(), answer };
    },
  ],
  ['custom notification of the server, in a call', (peer) => custom(peer, true)],
  ['custom notification of the server, by itself', (peer) => custom(peer, false), handshake],
  [
    'elicitation/complete',
    async (peer) => {
      const method = 'notifications/elicitation/complete';
      await peer.call('notify', {
        method,
        params: { elicitationId: 'e-7', _meta: { 'com.example/done': 1 } },
        related: false,
      });
      return peer.untilHeard(method);
    },
    handshake,
  ],
];

async function progress(peer, steps) {
  const answer = await peer.call('progress', { steps }, { progress: true });
  return { answer, heard: peer.heard('notifications/progress') };
}

async function log(peer, entries, more = {}) {
  await peer.setLevel('debug');
  await peer.call('log', { entries, ...more });
  const heard = await peer.untilHeard('notifications/message', entries.length);
  peer.resetLevel();
  return heard;
}

async function custom(peer, related) {
  const method = 'notifications/com.example/told';
  await peer.call('notify', { method, params: { a: [null, 1], _meta: { 'com.example/told': 1 } }, related });
  return peer.untilHeard(method);
}
