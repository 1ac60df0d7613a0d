// What client and server learn of each other when they connect.
export const GREETING = [
  ['server info', (peer) => peer.greeting.serverInfo ?? peer.greeting._meta?.['io.modelcontextprotocol/serverInfo']],
  ['instructions', (peer) => peer.greeting.instructions],
  ['capabilities', (peer) => without(peer.greeting.capabilities, ['experimental', 'extensions'])],
  ['capabilities: experimental', (peer) => peer.greeting.capabilities.experimental ?? null],
  ['capabilities: extensions', (peer) => peer.greeting.capabilities.extensions ?? null],
  ['unknown members of the greeting', (peer) => without(peer.greeting, KNOWN)],
  ['revision', (peer) => peer.greeting.protocolVersion ?? peer.greeting.supportedVersions],
  [
    'client info and capabilities at the server',
    async (peer) => {
      await peer.call('echo', {});
      const { _meta } = peer.got('tools/call').at(-1);
      const info = _meta?.['io.modelcontextprotocol/clientInfo'];
      return info ? { info, capabilities: _meta['io.modelcontextprotocol/clientCapabilities'] } : peer.introduction;
    },
  ],
  ['ping of the client', (peer) => peer.request('ping', {}), { only: ({ era }) => era === 'handshake' }],
  [
    'ping of the client with _meta',
    (peer) => peer.request('ping', { _meta: { 'com.example/ping': 1 } }),
    { only: ({ era }) => era === 'handshake' },
  ],
];

const KNOWN = ['protocolVersion', 'supportedVersions', 'capabilities', 'serverInfo', 'instructions'];

function without(object, names) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
