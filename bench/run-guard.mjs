// `npm run bench -- guard [--quick]`: what the guard adds to a call, in CPU of the gateway's process. One gateway for each row, each in its own
// process before a server in it, called in turns, and started several times. The ratio is the median of those within single rounds.
// Then what budgets add: a build with and one without them, before a server on stdio.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'node:http';
import { build } from './guard/build.mjs';

const isQuick = process.argv.includes('--quick');
const [LIVES, ROUNDS, CALLS, IN_FLIGHT] = isQuick ? [1, 5, 1000, 16] : [4, 12, 3000, 16];
const VERSION = '2026-07-28';
const META = { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {} };
const SMALL = 'hello';
const LARGE = `${SMALL}, "reader"\n`.repeat(4096); // 64 KB and more as JSON: it is counted
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': VERSION,
  'mcp-method': 'tools/call',
  'mcp-name': 'desk__echo',
};

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

const GUARDS = ['plain', 'rules', 'when', 'pins', 'audit', 'all'].map((row) => ({ row }));
await compare(GUARDS, SMALL, CALLS);
const BUDGETS = [
  { row: 'without budgets', built: await build({ budgets: false }) },
  { row: 'with budgets', built: await build({ budgets: true }) },
];
for (const [text, calls] of [
  [SMALL, CALLS],
  [LARGE, CALLS / 10],
]) {
  console.log(`\n${Buffer.byteLength(JSON.stringify(text))} bytes there and back`);
  await compare(BUDGETS, text, calls);
}
process.exit();

/** The first one is what the others are compared with. */
async function compare(subjects, text, count) {
  const body = toBody(text);
  const costs = Object.fromEntries(subjects.map(({ row }) => [row, []]));
  for (let life = 0; life < LIVES; life++) {
    const gateways = await Promise.all(subjects.map(start));
    for (const gateway of gateways) await calls(gateway, body, count * 3);
    for (let round = 0; round < ROUNDS; round++) {
      // Each round starts with another one.
      for (const [index] of gateways.entries()) {
        const gateway = gateways[(index + round) % gateways.length];
        const before = await cpuOf(gateway);
        await calls(gateway, body, count);
        costs[gateway.row].push(((await cpuOf(gateway)) - before) / count);
      }
    }
    for (const { child } of gateways) child.kill();
  }
  print(costs);
}

function print(costs) {
  const [first] = Object.values(costs);
  const widest = Math.max(...Object.keys(costs).map((row) => row.length));
  for (const [row, spent] of Object.entries(costs)) {
    const ratio = median(spent.map((cost, index) => cost / first[index]));
    const [cost, lowest] = [median(spent), Math.min(...spent)];
    const ofLowest = lowest / Math.min(...first);
    const told = `${cost.toFixed(1).padStart(7)} µs CPU a call, lowest ${lowest.toFixed(1)} (${ofLowest.toFixed(2)} ×)`;
    console.log(`${row.padEnd(widest)} ${told}  ${ratio.toFixed(2)} ×`);
  }
}

function toBody(text) {
  const params = { name: 'desk__echo', arguments: { text, amount: 5 }, _meta: META };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

async function start({ row, built }) {
  const program = fileURLToPath(new URL('guard/gateway.mjs', import.meta.url));
  const child = fork(program, built ? [row, built] : [row]);
  const [{ url }] = await once(child, 'message');
  return { row, child, url };
}

async function cpuOf({ child }) {
  child.send('cpu');
  const [{ cpu }] = await once(child, 'message');
  return cpu;
}

async function calls({ url }, body, count) {
  let left = count;
  const one = async () => {
    while (left-- > 0) await call(url, body);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
}

function call(url, body) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers: HEADERS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () => (text.includes('hello') ? resolve() : reject(new Error(text))));
    });
    sent.on('error', reject).end(body);
  });
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
