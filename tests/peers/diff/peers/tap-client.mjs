// Sees what passes a client's transport, and when its stream for what the server says by itself is open.

/** The SDKs keep a handler that is already there, and call it before their own. */
export function tapClientTransport(transport, { sent, came }) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    for (const one of [message].flat()) sent(one);
    return send(message, options);
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
