// One engine in a process of its own: `engines/<name>.mjs` opened with options. It is driven in here when the parent asks for that, and
// served by node:http for a driver in another process. Without what it needs it says so and ends.
import { createServer } from 'node:http';
import { drive } from './drive.mjs';
import { endServers } from './servers.mjs';

const [engine, options] = [process.argv[2], JSON.parse(process.argv[3])];
const { api, server, ingress } = await opened();

async function opened() {
  try {
    const { open } = await import(`./engines/${engine}.mjs`);
    return await open(options);
  } catch (error) {
    process.send({ missing: error.message.split('\n')[0] }, () => process.exit());
    return new Promise(() => {});
  }
}

const http = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  request.on('end', async () => {
    try {
      const { turn, value } = JSON.parse(text);
      const next = JSON.stringify(await (request.url === '/start' ? api.start() : api.answer(turn, value)));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(next) });
      response.end(next);
    } catch (error) {
      response.writeHead(500).end(String(error?.stack ?? error));
    }
  });
}).listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${http.address().port}`, server, ingress });
});

const ASKED = {
  usage: async () => cpu(),
  async drive(plan) {
    const before = cpu();
    const driven = await drive(api, plan);
    return { ...driven, cpu: cpu() - before };
  },
  async end() {
    await api?.close?.();
    await endServers();
  },
};
process.on('message', async ({ asked, plan }) => {
  const answer = await ASKED[asked](plan);
  process.send({ answer }, () => {
    if (asked === 'end') process.exit();
  });
});
process.on('disconnect', () => process.exit());

/** µs of all threads. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
