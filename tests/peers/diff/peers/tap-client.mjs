// Sees what passes a client's transport, and when its stream for what the server says by itself is open.

/** Members of a client's own, which no option of the SDKs lets it say. */
const OPENING = { 'x-opening': { a: [1, null] }, _meta: { 'com.example/opening': 1 } };

/** The SDKs keep a handler that is already there, and call it before their own. */
export function tapClientTransport(transport, { sent, came }) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const said = message.method === 'initialize' ? { ...message, params: { ...message.params, ...OPENING } } : message;
    for (const one of [said].flat()) sent(one);
    return send(said, options);
  };
  transport.onmessage = came;
  return transport;
}

export function watchStream() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return {
    opened,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if ((init?.method ?? 'GET') === 'GET' && response.ok) open();
      return response;
    },
  };
}
