// `npm run bench -- logins [--quick|--short] [--write]`: what a login costs a call. Three gateways, without a login, with a key and with a token, take turns in
// one run; each round is CPU time per call of the gateway's process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { renewResults } from './report/results-page.mjs';
import { machine } from './report/summary.mjs';

const PLANS = { full: [15, 2000, 3000], short: [10, 1000, 2000], quick: [5, 500, 500] };
const wanted = ['quick', 'short'].find((name) => process.argv.includes(`--${name}`)) ?? 'full';
const [ROUNDS, CALLS, WARM_UP] = PLANS[wanted];
const CONCURRENCY = 8;
const KEY = 'parley_a-key-for-the-bench-0123456789';
const PROGRAM = fileURLToPath(new URL('logins/gateway.mjs', import.meta.url));
const META = 'io.modelcontextprotocol';

const issuer = await startIssuer();
const subjects = [
  await start('none', null),
  await start('key', { keys: [{ name: 'bench', key: KEY }] }, async () => KEY),
  await start('token', { issuers: [issuer.url] }, issuer.tokenFor),
];
for (const subject of subjects) await load(subject, WARM_UP);
const taken = new Map(subjects.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round++)
  for (const subject of rotated(round)) taken.get(subject.name).push(await measure(subject));

const lines = subjects.map(({ name }) => {
  const ratios = taken.get(name).map((cpu, round) => cpu / taken.get('none')[round]);
  return [name, median(taken.get(name)).toFixed(1), median(ratios).toFixed(2)];
});
const head = ['login', 'CPU µs per call', 'median of the ratios within rounds'];
const table = [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
const { cpu: processor, cores, node, date, commit } = machine();
const about = `Commit ${commit}. ${processor}, ${cores} cores, Node ${node}, ${date}; ${ROUNDS} rounds of ${CALLS} calls, ${CONCURRENCY} in flight.`;
console.log(`${about}\n\n${table}`);
if (process.argv.includes('--write')) renewResults('logins', `${about}\n\n${table}`);
for (const { child } of subjects) child.disconnect();
issuer.close();

function rotated(round) {
  return subjects.map((_, index) => subjects[(index + round) % subjects.length]);
}

async function start(name, auth, credentialFor = async () => '') {
  const child = fork(PROGRAM, [JSON.stringify(auth)], { stdio: 'inherit' });
  const [{ url }] = await once(child, 'message');
  const credential = await credentialFor(url);
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  return {
    name,
    child,
    url,
    agent,
    headers: credential === '' ? {} : { authorization: `Bearer ${credential}` },
  };
}

/** Microseconds of the gateway's process per call. */
async function measure(subject) {
  const before = await cpuOf(subject);
  await load(subject, CALLS);
  return ((await cpuOf(subject)) - before) / CALLS;
}

async function cpuOf({ child }) {
  child.send('cpu');
  const [{ cpu }] = await once(child, 'message');
  return cpu.user + cpu.system;
}

async function load(subject, calls) {
  let left = calls;
  const worker = async () => {
    while (left-- > 0) await call(subject);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

function call({ url, agent, headers }) {
  const params = {
    name: 'hello__hello',
    arguments: {},
    _meta: { [`${META}/protocolVersion`]: '2026-07-28', [`${META}/clientCapabilities`]: {} },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'hello__hello',
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`)),
      );
    });
    sent.end(body);
  });
}

async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'ES256' };
  const server = createServer((asked, response) => {
    const isKeys = asked.url === '/jwks';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKeys ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}/jwks` }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const tokenFor = (audience) =>
    new SignJWT({ iss: url, sub: 'bench', aud: audience, scope: 'mcp' })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  return { url, tokenFor, close: () => server.close().closeAllConnections() };
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
