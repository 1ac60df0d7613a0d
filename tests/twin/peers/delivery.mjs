// How a message reaches a raw server, and where what it says goes.

/** One channel for all messages of a connection. */
export function duplexDelivery({ conn, send, die = () => {} }) {
  return { conn, send, end: send, push: send, begin() {}, accept() {}, refuse: () => die(), cut: () => die(), die };
}

export function onFreePort(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}
