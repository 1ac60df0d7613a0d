// `npm run bench -- guard [--quick]`: what the guard adds to a call, in CPU of the gateway's process. One gateway for each row, each in its own
// process before a server in it, called in turns, and started several times. The ratio is the median of those within single rounds.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'node:http';

const ROWS = ['plain', 'rules', 'when', 'pins', 'audit', 'all'];
const isQuick = process.argv.includes('--quick');
const [LIVES, ROUNDS, CALLS, IN_FLIGHT] = isQuick ? [1, 5, 1000, 16] : [4, 12, 3000, 16];
const VERSION = '2026-07-28';
const META = { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {} };
const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'desk__echo', arguments: { text: 'hello', amount: 5 }, _meta: META },
});
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': VERSION,
  'mcp-method': 'tools/call',
  'mcp-name': 'desk__echo',
};

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

const costs = Object.fromEntries(ROWS.map((row) => [row, []]));
for (let life = 0; life < LIVES; life++) {
  const gateways = await Promise.all(ROWS.map(start));
  for (const gateway of gateways) await calls(gateway, CALLS * 3);
  for (let round = 0; round < ROUNDS; round++) {
    // Each round starts with another one.
    for (const [index] of gateways.entries()) {
      const gateway = gateways[(index + round) % gateways.length];
      const before = await cpuOf(gateway);
      await calls(gateway, CALLS);
      costs[gateway.row].push(((await cpuOf(gateway)) - before) / CALLS);
    }
  }
  for (const { child } of gateways) child.kill();
}
for (const row of ROWS) {
  const ratio = median(costs[row].map((cost, index) => cost / costs.plain[index]));
  const [cost, lowest] = [median(costs[row]), Math.min(...costs[row])];
  const told = `${cost.toFixed(1).padStart(7)} µs CPU a call, lowest ${lowest.toFixed(1)}`;
  console.log(`${row.padEnd(6)} ${told}  ${ratio.toFixed(2)} ×`);
}
process.exit();

async function start(row) {
  const child = fork(fileURLToPath(new URL('guard/gateway.mjs', import.meta.url)), [row]);
  const [{ url }] = await once(child, 'message');
  return { row, child, url };
}

async function cpuOf({ child }) {
  child.send('cpu');
  const [{ cpu }] = await once(child, 'message');
  return cpu;
}

async function calls({ url }, count) {
  let left = count;
  const one = async () => {
    while (left-- > 0) await call(url);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
}

function call(url) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers: HEADERS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () => (text.includes('hello') ? resolve() : reject(new Error(text))));
    });
    sent.on('error', reject).end(BODY);
  });
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
