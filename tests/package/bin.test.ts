// Tests the built command as a person or a client runs it.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parley, startDemo } from '../helpers/built.ts';
import type { Demo } from '../helpers/built.ts';
import { ROOT, read } from '../helpers/files.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

describe('parley', () => {
  it('prints its version', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(parley(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.skipIf(process.platform === 'win32')(
    'parley is a command as it was built: npx may find a link to an older build',
    () => {
      const { status, error } = spawnSync(join(ROOT, 'dist/cli/main.js'), ['--version']);
      expect({ status, error }).toEqual({ status: 0, error: undefined });
    },
  );

  it('prints help', () => {
    const { status, stdout, stderr } = parley(['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const name of ['wrap', 'serve', 'check', 'ls', 'call', 'status', 'demo', 'completion']) {
      expect(stdout).toContain(`parley ${name}`);
    }
  });

  it.each([
    [[], 'No command was given.'],
    [['dance'], 'Unknown command "dance".'],
    [['demo', '--tango'], "Unknown option '--tango'."],
    [['demo', '--port'], '--port needs a value after it.'],
    [['demo', '--port', '123456'], '--port must be a number from 0 to 65535, not "123456".'],
    [['demo', '--stdio', '--port', '1'], '--stdio listens on no port'],
    [['demo', 'twice'], '"demo" takes no further words'],
    [['wrap'], 'Give the command to wrap after "--", or a URL.'],
    [['wrap', '--tango', '--', 'x'], "Unknown option '--tango'."],
    [['check', 'a.json', 'b.json'], '"check" takes one word at most'],
    [['call'], 'Name the tool to call.'],
    [['status', '--url', 'here'], '"here" is not a URL'],
    [['completion', 'csh'], 'Name your shell: bash, zsh, fish, powershell.'],
  ])('says what is wrong with %j, and what to do', (args, reason) => {
    const { status, stdout, stderr } = parley(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).toContain('--help"');
    // One wrong word is answered in two lines, not with all commands.
    if (reason.startsWith('Unknown command')) expect(stderr.trim().split('\n')).toHaveLength(2);
  });
});

describe('parley wrap', () => {
  it('answers with the server behind it, reports both revisions, and ends with its input', () => {
    const server = join(ROOT, 'tests', 'acceptance', 'external-server.mjs');
    const { status, stdout, stderr } = parley(
      ['wrap', '--', process.execPath, server],
      `${JSON.stringify(INITIALIZE)}\n`,
    );
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: 'client 2025-06-18 over stdio ⇄ server 2025-03-26 over stdio, same era\n',
    });
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'external' } } });
  });
});

describe('parley demo', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await startDemo();
  });
  afterAll(() => void demo.child.kill('SIGKILL'));

  it('answers an initialize over HTTP', async () => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const response = await fetch(demo.url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) });
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeTruthy();
    expect(await response.json()).toMatchObject({ id: 1, result: { serverInfo: { name: 'parley-demo' } } });
  });

  it('answers an initialize over a WebSocket', async () => {
    const socket = new WebSocket(demo.url.replace('http', 'ws').replace('/mcp', '/ws'));
    const answer = new Promise<string>((resolve, reject) => {
      socket.on('open', () => socket.send(JSON.stringify(INITIALIZE)));
      socket.on('message', (data: Buffer) => resolve(data.toString())).on('error', reject);
    });
    expect(JSON.parse(await answer)).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } });
    socket.close();
  });

  it('prints the lines to paste, without colours off a terminal', () => {
    expect(demo.said).toContain(`claude mcp add --transport http parley ${demo.url}`);
    expect(demo.said).toContain(`{"mcpServers": {"parley": {"url": "${demo.url}"}}}`);
    expect(demo.said).toMatch(/"command": "node", "args": \[.*"demo", "--stdio"\]/);
    for (const path of ['/mcp', '/sse', '/ws']) expect(demo.said).toContain(`:${demo.port}${path}`);
    expect(demo.said.includes('\u001B')).toBe(false);
  });

  it.skipIf(!hasCurl)('prints a curl line that works as pasted', () => {
    const command = demo.said.slice(demo.said.indexOf('curl -s'));
    const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', timeout: 10_000 });
    expect(JSON.parse(stdout)).toMatchObject({ result: { structuredContent: { city: 'Oslo' } } });
  });

  it('says so if its port is in use', async () => {
    const { status, stderr } = parley(['demo', '--port', String(demo.port)]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `parley: port ${demo.port} on 127.0.0.1 is taken by parley demo, process ${demo.child.pid}. Choose another one, or --port 0 for any that is free.\n`,
    });
  });

  it('ends cleanly on SIGTERM', async () => {
    expect(await demo.end('SIGTERM')).toBe(0);
  });

  it('ends cleanly on Ctrl-C, with a client connected', async () => {
    const other = await startDemo();
    const socket = new WebSocket(other.url.replace('http', 'ws').replace('/mcp', '/ws'));
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    expect(await other.end('SIGINT')).toBe(0);
  });
});

describe('parley demo without a port', () => {
  it('uses the next free port, and says so', async () => {
    const occupied = createServer();
    await new Promise<void>((resolve) => {
      occupied.once('error', () => resolve()).listen(8470, '127.0.0.1', () => resolve()); // already in use, which is fine too
    });
    const demo = await startDemo([]);
    expect(demo.port).not.toBe(8470);
    expect(demo.said).toContain(`Port 8470 is taken: using ${demo.port}.`);
    expect(await demo.end('SIGTERM')).toBe(0);
    expect((occupied.address() as AddressInfo | null)?.port ?? 8470).toBe(8470);
    occupied.close();
  });
});

describe('parley demo --stdio', () => {
  it('answers a ping, writes nothing else, and ends with its input', () => {
    const input = `${JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'ping' })}\n`;
    expect(parley(['demo', '--stdio'], input)).toEqual({
      status: 0,
      stdout: '{"jsonrpc":"2.0","id":"p","result":{}}\n',
      stderr: '',
    });
  });

  it('ends at once when there is no input', () => {
    expect(parley(['demo', '--stdio'])).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
