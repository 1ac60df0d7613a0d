// Collects the events of the servers for the player: a server may be many processes, and only the player sees them all.
import { createServer } from 'node:http';

/** `{ url, of(key), until(key, event), close }`. Events of a call: `called`, each time it arrives, and `called off`. */
export async function startEvents() {
  const told = new Map();
  const waiting = [];
  const of = (key) => told.get(key) ?? [];
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url, 'http://localhost');
    const key = searchParams.get('key');
    told.set(key, [...of(key), searchParams.get('event')]);
    for (const look of waiting) look();
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    of,
    until: (key, event) =>
      new Promise((resolve) => {
        const look = () => {
          if (of(key).includes(event)) resolve();
        };
        waiting.push(look);
        look();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** For the servers. */
export async function tell(url, key, event) {
  await fetch(`${url}/?${new URLSearchParams({ key, event })}`, { method: 'POST' });
}
