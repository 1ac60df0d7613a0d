// `npm run bench -- guard [--quick|--short] [--write]`: what the guard adds to a call, in CPU of the gateway's process. One gateway for each row, each in its own
// process before a server in it, called in turns, and started several times. The ratio is the median of those within single rounds.
// Then what budgets add: a build with and one without them, before a server on stdio.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'node:http';
import { build } from './guard/build.mjs';
import { renewResults } from './report/results-page.mjs';
import { machine } from './report/summary.mjs';

const PLANS = { full: [4, 12, 3000, 16], short: [2, 8, 1500, 16], quick: [1, 5, 1000, 16] };
const wanted = ['quick', 'short'].find((name) => process.argv.includes(`--${name}`)) ?? 'full';
const [LIVES, ROUNDS, CALLS, IN_FLIGHT] = PLANS[wanted];
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
const { cpu, cores, node, date, commit } = machine();
const page = [
  `Commit ${commit}. ${cpu}, ${cores} cores, Node ${node}, ${date}; ${LIVES} processes of each, ${ROUNDS} rounds of ${CALLS} calls in each, ${IN_FLIGHT} in flight.`,
];

const GUARDS = ['plain', 'rules', 'when', 'pins', 'audit', 'all'].map((row) => ({ row }));
await compare(GUARDS, { title: 'one guard after the other', text: SMALL, count: CALLS });
const BUDGETS = [
  { row: 'without budgets', built: await build({ budgets: false }) },
  { row: 'with budgets', built: await build({ budgets: true }) },
];
for (const [text, calls] of [
  [SMALL, CALLS],
  [LARGE, CALLS / 10],
]) {
  const title = `budgets, ${Buffer.byteLength(JSON.stringify(text)).toLocaleString('en')} bytes there and back`;
  await compare(BUDGETS, { title, text, count: calls });
}
if (process.argv.includes('--write')) renewResults('guard', page.join('\n\n'));
process.exit();

/** The first one is what the others are compared with. */
async function compare(subjects, { title, text, count }) {
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
  print(title, costs);
}

function print(title, costs) {
  const [first] = Object.values(costs);
  const head = [
    title,
    'CPU µs per call, median',
    'lowest',
    'ratio of the lowest',
    'median of the ratios within rounds',
  ];
  const lines = Object.entries(costs).map(([row, spent]) => {
    const ratio = median(spent.map((cost, index) => cost / first[index]));
    const lowest = Math.min(...spent);
    const figures = [median(spent).toFixed(1), lowest.toFixed(1), lowest / Math.min(...first), ratio];
    return [row, ...figures.map((figure) => (typeof figure === 'number' ? figure.toFixed(2) : figure))];
  });
  const table = [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
  console.log(`\n${table}`);
  page.push(table);
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
