// The commands that ask a gateway find every gateway of the user, say which one they use, and take a URL, a file or a command alike.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { send } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { EXTERNAL, Home, PARLEY_DEMO } from '../helpers/parley.ts';
import type { Parley } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const homes: Home[] = [];
const running: Parley[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
  for (const home of homes.splice(0)) home[Symbol.dispose]();
});

const WEATHER = { command: EXTERNAL[0], args: EXTERNAL.slice(1) };

function newHome(): Home {
  const home = new Home();
  homes.push(home);
  return home;
}

function start(home: Home, args: string[]): Parley {
  const parley = home.start(args);
  running.push(parley);
  return parley;
}

/** Lines of the log, off a terminal. */
function logged(parley: Parley, event: string): Record<string, unknown>[] {
  const lines = parley.stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['event'] === event);
}

describe('a gateway is found', () => {
  it('on stdio, by status, ls and call', async () => {
    const home = newHome();
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER, dead: { command: 'no-such-command' } } });
    const gateway = start(home, ['serve', file, '--stdio']);
    await stdioWire(gateway.child).initialize();
    const shown = await until('a status', async () => {
      const { stdout } = await home.run(['status']);
      return stdout.includes('failing') && stdout.includes('ready') && stdout;
    });
    expect(shown).toContain(`on stdio, process ${gateway.child.pid}`);
    expect(shown).toMatch(/SERVER +STATE +SPEAKS/);
    expect((await home.run(['ls', 'tools'])).stdout).toMatch(/TOOL +SERVER +DESCRIPTION\n.*get_weather +weather /);
    // A command that was not found is in the log, once.
    expect(logged(gateway, 'upstream.failed')).toMatchObject([
      { server: 'dead', reason: expect.stringContaining('command not found: no-such-command') },
    ]);
  });

  it('with TLS whose certificate is for another name', async () => {
    const home = newHome();
    const [key, cert] = [join(home.path, 'key.pem'), join(home.path, 'cert.pem')];
    const subject = ['-subj', '/CN=gateway.example', '-days', '2'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject],
      {
        stdio: 'ignore',
      },
    );
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, listen: { port: 0, tls: { key, cert } } });
    const gateway = start(home, ['serve']);
    await gateway.says('url = "https');
    expect((await home.run(['ls', 'tools'])).stdout).toContain('get_weather');
    const called = await home.run(['call', 'get_weather', '--arg', 'location=Oslo']);
    expect(called).toMatchObject({ status: 0, stdout: expect.stringContaining('Oslo'), stderr: '' });
    expect((await home.run(['status'])).stdout).toContain('https://127.0.0.1:');
  });

  it('that is wrap with a port, which says that it is well', async () => {
    const home = newHome();
    const gateway = start(home, ['wrap', '--port', '0', '--log-calls', '--', ...EXTERNAL]);
    const url = await gateway.url();
    expect((await send(new URL('/healthz', url).href, { method: 'GET' })).status).toBe(200);
    expect((await home.run(['call', 'get_weather', '--arg', 'location=Oslo'])).stdout).toContain('Oslo');
    expect((await home.run(['status'])).stdout).toMatch(/external-server +ready/);
    const call = await until('the line of the call', () => logged(gateway, 'call')[0]);
    expect(call).toMatchObject({
      server: 'external-server',
      tool: 'get_weather',
      outcome: 'ok',
      ms: expect.any(Number),
    });
    expect(JSON.stringify(call)).not.toContain('Oslo');
  });

  it('among several: it is said which one, and how to choose', async () => {
    const home = newHome();
    const first = start(home, ['demo', '--port', '0']);
    const firstUrl = await first.url();
    await first.says('url = "http');
    const second = start(home, ['serve', home.write('mcp.json', { mcpServers: { weather: WEATHER } }), '--port', '0']);
    await second.says('url = "http');
    const listed = await home.run(['ls', 'tools']);
    expect(listed.stdout).toContain('get_weather');
    expect(listed.stderr).toContain(`Using the gateway at ${await second.url()} (process ${second.child.pid}`);
    expect(listed.stderr).toContain(`to choose it: --url ${firstUrl}`);
  });

  it('whose state folder has a path too long for a socket', async () => {
    const home = newHome();
    const temp = join(home.path, 'tmp');
    mkdirSync(temp);
    const env = { XDG_STATE_HOME: join(home.path, 'long'.repeat(30)), TMPDIR: temp };
    const gateway = home.start(['demo', '--port', '0'], env);
    running.push(gateway);
    await gateway.says('url = "http');
    expect((await home.run(['call', 'add', '{"a": 2, "b": 40}'], '', env)).stdout).toBe('{"sum":42}\n');
    const sockets = () => readdirSync(temp).filter((name) => name.startsWith('parley-'));
    expect(sockets().map((name) => statSync(join(temp, name)).mode & 0o777)).toEqual([0o700]);
    await gateway.stop();
    expect(sockets()).toEqual([]);
  });

  it('that hangs: it is said so, and no other one is shown in its place', async () => {
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    const gateway = start(home, ['demo', '--port', '0']);
    await gateway.says('url = "http');
    gateway.child.kill('SIGSTOP');
    for (const command of ['ls', 'status']) {
      const { status, stdout, stderr } = await home.run([command, '--timeout', '1']);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain(`(process ${gateway.child.pid}, the demo) does not answer`);
    }
    gateway.child.kill('SIGCONT');
  });
});

describe('whom to talk to', () => {
  it('is a command after --, for ls, call, read, prompt and status', async () => {
    const home = newHome();
    const behind = ['--', ...PARLEY_DEMO];
    expect((await home.run(['ls', 'tools', ...behind])).stdout).toMatch(/TOOL +DESCRIPTION\nadd +Adds two numbers/);
    expect(await home.run(['call', 'add', '{"a": 2, "b": 40}', ...behind])).toMatchObject({ stdout: '{"sum":42}\n' });
    expect((await home.run(['read', 'demo://about', ...behind])).stdout).toContain('A demo.');
    const filled = await home.run(['prompt', 'plan_evening', '--arg', 'city=Oslo', ...behind]);
    expect(filled.stdout).toContain('weather in Oslo');
    expect(await home.run(['status', ...behind])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('ready'),
    });
  });

  it('is a file for status, which starts its servers and says why one fails', async () => {
    const home = newHome();
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER, dead: { command: 'no-such-command' } } });
    const { status, stdout } = await home.run(['status', '--config', file]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/weather +ready/);
    expect(stdout).toContain('command not found: no-such-command');
  });

  it('is the configuration here where no gateway runs, which is said', async () => {
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    const { stdout, stderr } = await home.run(['ls', 'tools', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'get_weather', server: 'weather' }, {}]);
    expect(stderr).toContain('No gateway is running: the servers of parley.config.json are started for this.');
  });
});

describe('serve --log-calls', () => {
  it('writes a line for each call, without what was said in it', async () => {
    const home = newHome();
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER } });
    const gateway = start(home, ['serve', file, '--port', '0', '--log-calls']);
    await gateway.says('url = "http');
    await home.run(['call', 'get_weather', '--arg', 'location=Oslo']);
    await home.run(['call', 'nonsense']);
    const lines = await until('two lines', () => {
      const found = logged(gateway, 'call');
      return found.length >= 2 && found;
    });
    expect(lines).toMatchObject([
      { server: 'weather', tool: 'get_weather', outcome: 'ok', ms: expect.any(Number) },
      { tool: 'nonsense', outcome: expect.stringContaining('error') },
    ]);
    expect(gateway.stderr).not.toContain('Oslo');
  });
});
