// MCPJam's OAuth conformance suite against the logins of a gateway whose issuer is a real oidc-provider: every revision, registration and
// way to log in that the suite has. Compares the table in docs/evidence/attacks.md with what came out.
//
//   node tests/mcpjam/run.mjs [--write] [--only TEXT]
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGateway, createServer as createMcpServer } from '../../dist/_entries/index.js';
import { browse, createCookieFetch } from './cookie-fetch.mjs';
import { KNOWN_CLIENT, startIssuer } from './issuer.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/evidence/attacks.md', import.meta.url));
const [BEGIN, END] = ['<!-- mcpjam:begin -->', '<!-- mcpjam:end -->'];
const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25'];
/** The document that names the suite as a client is on its own site, which tests cannot reach. */
const ONLINE = 'the client-id document of the suite is online';

const { values } = parseArgs({ options: { write: { type: 'boolean' }, only: { type: 'string' } } });

install();
const { OAuthConformanceSuite } = await import('@mcpjam/sdk');
const rows = [];
const setup = await start();
try {
  const flows = flowsOf(setup).filter(({ label }) => !values.only || label.includes(values.only));
  const suite = new OAuthConformanceSuite({
    name: 'logins of a gateway',
    serverUrl: setup.url,
    defaults: {
      oauthConformanceChecks: true,
      verification: { listTools: true, callTool: { name: 'hello__hello', params: {} } },
      stepTimeout: 20_000,
    },
    flows,
  });
  for (const result of (await suite.run()).results) rows.push(toRow(result));
  rows.push({ revision: '2025-11-25', registration: 'cimd', mode: 'any', skipped: ONLINE });
} finally {
  await setup.close();
}
process.exit(report());

function flowsOf({ redirect }) {
  const openUrl = async (url) => void (await browse(url));
  const modes = {
    interactive: () => ({ auth: { mode: 'interactive', openUrl }, redirectUrl: redirect }),
    headless: () => ({ auth: { mode: 'headless' }, fetchFn: createCookieFetch(), redirectUrl: redirect }),
  };
  const people = REVISIONS.flatMap((protocolVersion) =>
    ['dcr', 'preregistered'].flatMap((registrationStrategy) =>
      Object.entries(modes).map(([mode, make]) => ({
        label: `${protocolVersion} ${registrationStrategy} ${mode}`,
        protocolVersion,
        registrationStrategy,
        ...(registrationStrategy === 'preregistered' && { client: { preregistered: KNOWN_CLIENT } }),
        ...make(),
      })),
    ),
  );
  const services = REVISIONS.map((protocolVersion) => ({
    label: `${protocolVersion} preregistered client_credentials`,
    protocolVersion,
    registrationStrategy: 'preregistered',
    client: { preregistered: KNOWN_CLIENT },
    auth: { mode: 'client_credentials', ...KNOWN_CLIENT },
  }));
  return [...people, ...services];
}

async function start() {
  const hello = createMcpServer({ name: 'hello', version: '1.0.0' });
  hello.tool('hello', { description: 'Says hello' }, () => 'hello');
  const port = await freePort();
  const redirect = `http://127.0.0.1:${await freePort()}/callback`;
  const url = `http://127.0.0.1:${port}/mcp`;
  const issuer = await startIssuer({ resource: () => url, redirects: [redirect] });
  const gateway = createGateway({ servers: { hello }, auth: { issuers: [issuer.issuer] } });
  await gateway.listen({ port });
  const close = async () => {
    await gateway.close();
    issuer.close();
  };
  return { url, redirect, close };
}

function toRow({ label, passed, steps, verification }) {
  const [revision, registration, mode] = label.split(' ');
  const count = (status) => steps.filter((step) => step.status === status).length;
  const bad = steps.filter(({ status }) => status === 'failed').map(({ step, error }) => `${step}: ${error?.message}`);
  for (const [what, found] of Object.entries(verification ?? {}))
    if (!found.passed) bad.push(`${what}: ${found.error}`);
  const left = steps.filter(({ status }) => status === 'skipped').map(({ step }) => step);
  return { revision, registration, mode, passed: passed && bad.length === 0, good: count('passed'), left, bad };
}

function report() {
  const lines = rows.map((row) => {
    const { revision, registration, mode, passed, good, left = [], skipped } = row;
    const sign = skipped ? '–' : passed ? '✓' : '✗';
    const how =
      skipped ??
      `${good} checks${left.length > 0 ? `; left out by the suite: ${left.map((one) => `\`${one}\``).join(', ')}` : ''}`;
    return `| ${revision} | ${registration} | ${mode} | ${sign} | ${how} |`;
  });
  const head = ['| revision | registration | login | | |', '|---|---|---|:-:|---|'];
  const block = [BEGIN, ...head, ...lines, END].join('\n');
  console.log([...head, ...lines].join('\n'));
  for (const { revision, registration, mode, bad = [] } of rows)
    for (const one of bad) console.log(`✗ ${revision} ${registration} ${mode}: ${one}`);
  const isCurrent = values.only !== undefined || comparePage(block);
  const ran = rows.filter(({ skipped }) => !skipped);
  const good = ran.filter(({ passed }) => passed).length;
  console.log(`${good} passed, ${ran.length - good} failed, ${rows.length - ran.length} skipped`);
  return ran.length > 0 && good === ran.length && isCurrent ? 0 : 1;
}

function comparePage(block) {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (page.slice(from, to + END.length) === block) return true;
  if (values.write) {
    writeFileSync(PAGE, page.slice(0, from) + block + page.slice(to + END.length));
    return true;
  }
  console.log('✗ docs/evidence/attacks.md is not what this run gives: node tests/mcpjam/run.mjs --write renews it');
  return false;
}

function install() {
  const installed = `${HERE}node_modules/.package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${HERE}package-lock.json`).mtimeMs) return;
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: HERE,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('the suite could not be installed: run "npm ci" in tests/mcpjam to see why');
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
