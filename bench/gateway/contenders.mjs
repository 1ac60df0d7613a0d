// Who is compared, and the command line of each for a group; or, in words, why there is none.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCross } from './groups.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const peer = (path) => here(`../node_modules/${path}`);
const PARLEY = here('../../dist/cli/main.js');
/** Other checkouts of Parley, with their builds; see ../run-before.mjs and ../run-wrap.mjs. */
const FOLDERS = (process.env.PARLEY_BEFORE ?? '').split(delimiter).filter(Boolean);

export const SERVER = here('server.mjs');

/** Names that the chain of steps gives to the tools. */
const RENAMED = { echo: 'say', blob: 'book', huge: 'library', slow: 'nap' };
const STEPS = [{ rename: { tools: RENAMED } }, { filter: { deny: ['*delete*'] } }, { timeout: { ms: 30_000 } }];

const NO_BRIDGE = 'does not bridge eras';
const HANDSHAKE_ONLY = 'speaks the handshake era only';
const STATEFUL = ['--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none'];

/**
 * Each gets the group, a free port, the server as a command or a URL, and a folder for its files. It returns `args` of Node
 * (or `command`), what the client speaks if not Streamable HTTP at /mcp, and what tools are called; or `cannot`.
 */
const CONTENDERS = {
  /** Whatever the server of the group speaks: what the client would have if it were its own transport. */
  direct: ({ from }, { own }) =>
    from === 'stdio' ? { args: own.slice(1), isServer: true } : { url: own[0], isServer: true },
  pipe: ({ from, to }, { server }) =>
    from === 'stdio' && to === 'stdio'
      ? { args: [here('relays/pipe.mjs'), ...server] }
      : { cannot: 'needs pipes on both sides' },
  relay: ({ from, to }, { port, server }) => ({
    args: [here(`relays/${from}-to-${to}.mjs`), ...(from === 'http' ? [port] : []), ...server],
  }),
  nginx: ({ from, to }, { port, server, folder }) => {
    if (from !== 'http' || to !== 'http') return { cannot: 'HTTP only' };
    if (spawnSync('nginx', ['-v']).error) return { cannot: 'not found; Debian has it: apt-get install nginx-light' };
    return { command: 'nginx', args: ['-p', folder, '-c', nginxConfig({ port, url: server[0], folder })] };
  },
  supergateway: ({ from, to, era }, { port, server, bothEras }) => {
    const program = peer('supergateway/dist/index.js');
    if (from === to) return { cannot: 'only between HTTP and stdio' };
    if (from === 'stdio') {
      if (era === 'stateless') return { cannot: HANDSHAKE_ONLY };
      return { args: [program, '--streamableHttp', server[0], '--logLevel', 'none'] };
    }
    const args = [program, '--stdio', bothEras.join(' '), '--port', port, ...STATEFUL];
    return { args, processPerCall: era === 'stateless' };
  },
  'mcp-proxy': ({ from, to, era }, { port, server }) => {
    if (from !== 'http' || to !== 'stdio') return { cannot: 'HTTP to stdio only' };
    const upstream = era === 'stateless' ? 'modern' : 'legacy';
    const program = peer('mcp-proxy/dist/bin/mcp-proxy.mjs');
    const own = ['--host', '127.0.0.1', '--port', port, '--upstreamProtocol', upstream];
    return { args: [program, ...own, '--', ...server] };
  },
  'mcp-hub': ({ from, to, era }, { port, server, folder }) => {
    if (from !== 'http') return { cannot: 'HTTP only' };
    if (era === 'stateless') return { cannot: HANDSHAKE_ONLY };
    const [command, ...args] = server;
    const config = file(folder, 'mcp-hub.json', {
      mcpServers: { b: to === 'stdio' ? { command, args } : { url: command } },
    });
    const own = [peer('mcp-hub/dist/cli.js'), '--port', port, '--config', config];
    return { args: own, client: 'sse', tool: (name) => `b__${name}` };
  },
  sdk: ({ from, era }, { port, server }) => {
    if (era === 'stateless') return { cannot: HANDSHAKE_ONLY };
    return { args: [here('sdk-proxy.mjs'), ...(from === 'http' ? ['--port', port] : []), ...server] };
  },
  parley: (group, given) => wrap(group, given),
  /** Without the log of calls, which the others do not have. */
  'parley (no audit)': (group, given) => wrap(group, given, '--no-audit'),
  'parley+chain': (group, given) => serve(group, given),
  'parley+chain (no audit)': (group, given) => serve(group, given, { audit: false }),
  ...(FOLDERS.length > 0 && {
    'parley before': (group, given) => before(FOLDERS[0], wrap(group, given)),
    'parley+chain before': (group, given) => before(FOLDERS[0], serve(group, given)),
  }),
};
/** `wrap` of each of these builds, by the name of its folder. */
const BY_FOLDER = Object.fromEntries(
  FOLDERS.map((folder) => [`parley ${basename(folder)}`, (group, given) => before(folder, wrap(group, given))]),
);
export const EARLIER = Object.keys(BY_FOLDER);

function before(folder, { args: [, command, ...args], ...how }) {
  const program = join(folder, 'dist/cli/main.js');
  // Ports were open to all programs of the machine before there was an option for it.
  const isOlder = !spawnSync(process.execPath, [program, command, '--help'], { encoding: 'utf8' }).stdout.includes(
    '--open',
  );
  return { args: [program, command, ...args.filter((word) => !isOlder || word !== '--open')], ...how };
}

function wrap({ from, to }, { port, server }, ...options) {
  const door = from === 'http' ? ['--port', port, '--open'] : [];
  return { args: [PARLEY, 'wrap', ...options, ...door, ...(to === 'stdio' ? ['--'] : []), ...server] };
}

function serve({ from, to }, { port, server, folder }, settings = {}) {
  const [command, ...args] = server;
  const entry = to === 'stdio' ? { command, args } : { url: command };
  const config = file(folder, 'parley.json', { mcpServers: { b: entry }, steps: STEPS, ...settings });
  const door = from === 'http' ? ['--port', port, '--open'] : ['--stdio'];
  return { args: [PARLEY, 'serve', config, ...door], tool: (name) => RENAMED[name] };
}

const ALL = Object.keys(CONTENDERS);
export const NAMES = ALL.filter((name) => !name.endsWith(' before'));
const BRIDGES = ALL.filter((name) => name.startsWith('parley'));
/** In groups across eras they are what the bridges are compared with, each in the client's era. */
const BASELINES = ['direct', 'relay'];

export function invocation(name, group, given) {
  if (isCross(group) && !BRIDGES.includes(name) && !BASELINES.includes(name)) return { cannot: NO_BRIDGE };
  return (CONTENDERS[name] ?? BY_FOLDER[name])(group, { ...given, port: String(given.port) });
}

function file(folder, name, value) {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
}

function nginxConfig({ port, url, folder }) {
  const { host } = new URL(url);
  const path = join(folder, 'nginx.conf');
  const lines = [
    'daemon off; master_process off; error_log stderr crit; pid nginx.pid; events { worker_connections 1024; }',
    'http { access_log off; client_max_body_size 100m; client_body_temp_path .; proxy_temp_path .;',
    'fastcgi_temp_path .; uwsgi_temp_path .; scgi_temp_path .;',
    `upstream server { server ${host}; keepalive 256; }`,
    `server { listen 127.0.0.1:${port}; keepalive_requests 100000000; location / { proxy_pass http://server;`,
    'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }',
  ];
  writeFileSync(path, lines.join('\n'));
  return path;
}
