// Starts Parley with the command of the unit, in a state folder of its own, and reaches it as a proxy would. systemd and nginx read their files
// where they are installed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const folder = mkdtempSync(join(tmpdir(), 'parley-service-'));
const env = {
  ...process.env,
  GITHUB_TOKEN: 'not-a-real-one',
  XDG_STATE_HOME: folder,
  PARLEY_TRUST: here('parley.config.jsonc'),
};

const [, command] = /^ExecStart=\/usr\/local\/bin\/mcp-parley (.*)$/m.exec(
  readFileSync(here('parley.service'), 'utf8'),
);
const words = command.replace('/etc/parley/parley.config.jsonc', here('parley.config.jsonc')).split(' ');
const gateway = spawn(process.execPath, [parley, ...words, '--port', '0'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const { port } = new URL(await urlFrom(gateway.stdout));
  assert.deepEqual(await get(port, '/readyz', 'mcp.example.com'), 200, 'the name that clients use is answered');
  assert.deepEqual(await get(port, '/readyz', 'evil.example.com'), 403, 'another name is not');
  console.log('parley serve: ready for mcp.example.com');
  if (has('systemd-analyze')) readBySystemd();
  if (has('nginx')) await throughNginx(port);
} finally {
  gateway.kill();
  await once(gateway, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

/** The unit, with a command that is there. */
function readBySystemd() {
  const unit = join(folder, 'parley.service');
  writeFileSync(
    unit,
    readFileSync(here('parley.service'), 'utf8').replace('/usr/local/bin/mcp-parley', process.execPath),
  );
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  const complaints = stderr.split('\n').filter((line) => line.includes('parley.service'));
  assert.deepEqual({ status, complaints }, { status: 0, complaints: [] });
  console.log('systemd: the unit is understood');
}

async function throughNginx(port) {
  const own = await freePort();
  const site = readFileSync(here('nginx.conf'), 'utf8')
    .replace(/listen 80;.*/, `listen 127.0.0.1:${own};`)
    .replace('127.0.0.1:8470', `127.0.0.1:${port}`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const config = `daemon off; pid ${folder}/nginx.pid; events {} http { access_log off; ${paths.join(' ')} ${site} }`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const nginx = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  nginx.stderr.on('data', (chunk) => (said += chunk));
  try {
    const deadline = Date.now() + 60_000;
    let status;
    while (status !== 200) {
      assert.ok(Date.now() < deadline && nginx.exitCode === null, `nginx does not pass requests on: ${status} ${said}`);
      status = await get(own, '/readyz', 'mcp.example.com').catch(() => undefined);
    }
    console.log('nginx: passes requests on');
  } finally {
    nginx.kill();
    await once(nginx, 'exit');
  }
}

function has(program) {
  return spawnSync(program, ['--version']).status === 0 || spawnSync(program, ['-v']).status === 0;
}

async function get(port, path, host) {
  const sent = request({ host: '127.0.0.1', port, path, headers: { host } }).end();
  const [{ statusCode }] = await once(sent, 'response');
  return statusCode;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function urlFrom(stdout) {
  for await (const line of createInterface({ input: stdout })) {
    const [url] = /http:\S+\/mcp/.exec(line) ?? [];
    if (url) {
      stdout.resume();
      return url;
    }
  }
  throw new Error('the gateway ended');
}
