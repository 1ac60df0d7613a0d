// Records what goes through one end of an official SDK transport.

/** `end`: which side uses this end, client or server. */
export function tapTransport(transport, end, record) {
  const other = end === 'client' ? 'server' : 'client';
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    record({ from: end, message: structuredClone(message) });
    return send(message, options);
  };
  let onmessage = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => onmessage,
    set(handler) {
      onmessage =
        handler &&
        ((message, extra) => {
          record({ from: other, message: structuredClone(message) });
          handler(message, extra);
        });
    },
  });
  return transport;
}
