// The commands that ask a gateway find every gateway of the user, say which one they use, and take a URL, a file or a command alike.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect, createGateway, createLog } from 'mcp-parley';
import manifest from '../../package.json' with { type: 'json' };
import { send } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { EXTERNAL, PARLEY_DEMO, WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();

/** Made by openssl, for another name than this machine has. */
function certificate(home: Home): { key: string; cert: string } {
  const [key, cert] = [join(home.path, 'key.pem'), join(home.path, 'cert.pem')];
  const subject = ['-subj', '/CN=gateway.example', '-days', '2'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject];
  execFileSync('openssl', made, { stdio: 'ignore' });
  return { key, cert };
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
    expect((await home.run(['ls', 'tools'])).stdout).toMatch(
      /TOOL +SERVER +ARGUMENTS +DESCRIPTION\n.*get_weather +weather /,
    );
    // A command that was not found is in the log, once.
    expect(gateway.logged('upstream.failed')).toMatchObject([
      { server: 'dead', reason: expect.stringContaining('command not found: no-such-command') },
    ]);
  });

  it('with TLS whose certificate is for another name', async () => {
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER }, listen: { port: 0, tls: certificate(home) } });
    const gateway = start(home, ['serve']);
    await gateway.says('url = "https');
    expect((await home.run(['ls', 'tools'])).stdout).toContain('get_weather');
    const called = await home.run(['call', 'get_weather', '--arg', 'location=Oslo']);
    expect(called).toMatchObject({ status: 0, stdout: expect.stringContaining('Oslo'), stderr: '' });
    expect((await home.run(['status'])).stdout).toContain('https://127.0.0.1:');
    // By its URL, too: its socket needs no certificate.
    const [url] = /https:\/\/\S+?\/mcp/.exec(gateway.stdout)!;
    expect(await home.run(['ls', 'tools', url])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('get_weather'),
      stderr: '',
    });
    expect((await home.run(['ls', 'tools', '--url', `${url}/weather`])).stdout).toMatch(/get_weather +weather /);
    expect((await home.run(['status', url])).stdout).toMatch(/weather +ready/);
    const wrong = await home.run(['ls', 'tools', `${url}/wether`]);
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('Did you mean "weather"?') });
  });

  it('of somebody else, with a certificate that is not trusted: it is said how to trust it', async () => {
    const owner = newHome();
    const tls = certificate(owner);
    owner.write('parley.config.json', { mcpServers: { weather: WEATHER }, listen: { port: 0, tls } });
    const gateway = start(owner, ['serve']);
    await gateway.says('url = "https');
    const [url] = /https:\/\/\S+?\/mcp/.exec(gateway.stdout)!;
    const home = newHome();
    for (const command of ['ls', 'status']) {
      const refused = await home.run([command, url]);
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toMatch(/certificate/);
      expect(refused.stderr).toContain('NODE_EXTRA_CA_CERTS');
    }
  });

  it('inside another program, by its URL, with the states of its servers', async () => {
    const home = newHome();
    const servers = { weather: { server: WEATHER, start: 'eager' as const }, dead: { command: 'no-such-command' } };
    const log = createLog({ level: 'silent' });
    await using gateway = Object.assign(createGateway({ servers, log }), {
      [Symbol.asyncDispose]: () => gateway.close(),
    });
    const { url } = await gateway.listen({ port: 0 });
    const listed = await home.run(['ls', 'tools', url]);
    expect(listed.stdout).toMatch(/weather__get_weather +weather /);
    expect(listed.stderr).toContain('dead is failing: the log of its gateway says why.');
    const { status, stdout } = await home.run(['status', url]);
    expect(status).toBe(1);
    expect(stdout).toContain(`Parley inside another program, at ${url}`);
    expect(stdout).toMatch(/weather +ready/);
    expect(stdout).toMatch(/dead +failing/);
    const client = await connect({ url }, { log });
    expect(client.server.info).toMatchObject({ name: 'mcp-parley', version: manifest.version });
    await client.close();
  });

  it('that is wrap with a port, which answers /healthz', async () => {
    const home = newHome();
    const gateway = start(home, ['wrap', '--port', '0', '--log-calls', '--', ...EXTERNAL]);
    const url = await gateway.url();
    expect((await send(new URL('/healthz', url).href, { method: 'GET' })).status).toBe(200);
    expect((await home.run(['call', 'get_weather', '--arg', 'location=Oslo'])).stdout).toContain('Oslo');
    expect((await home.run(['status'])).stdout).toMatch(/external-server +ready/);
    const call = await until('the line of the call', () => gateway.logged('call')[0]);
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

  it('by its process, where it has no URL', async () => {
    const home = newHome();
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER } });
    const onStdio = start(home, ['serve', file, '--stdio']);
    await stdioWire(onStdio.child).initialize();
    const pid = String(onStdio.child.pid);
    await until('the first gateway', async () => (await home.run(['status', '--pid', pid])).status === 0);
    const demo = start(home, ['demo', '--port', '0']);
    await demo.says('url = "http');
    const newest = await until('both gateways', async () => {
      const { stderr } = await home.run(['ls', 'tools']);
      return stderr.includes('Another one runs') && stderr;
    });
    expect(newest).toContain(`to choose it: --pid ${pid}`);
    expect(await home.run(['ls', 'tools', '--pid', pid])).toMatchObject({
      stdout: expect.stringContaining('get_weather'),
      stderr: '',
    });
    expect((await home.run(['status', '--pid', pid])).stdout).toContain(`process ${pid}`);
    const missing = await home.run(['status', '--pid', '1']);
    expect(missing.status).toBe(1);
    expect(missing.stderr).toContain('none of your gateways is process 1');
    expect(missing.stderr).toContain(`--pid ${pid}`);
  });

  it('among several: the one that serves the configuration here is preferred, and never replaced without a word', async () => {
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    const here = start(home, ['serve', '--port', '0']);
    await here.says('url = "http');
    const newer = start(home, ['demo', '--port', '0']);
    await newer.says('url = "http');
    const listed = await home.run(['ls', 'tools']);
    expect(listed.stdout).toContain('get_weather');
    expect(listed.stderr).toContain(`Using the gateway at ${await here.url()}`);
    here.child.kill('SIGSTOP');
    const hanging = await home.run(['ls', 'tools', '--timeout', '1']);
    expect(hanging).toMatchObject({ status: 1, stdout: '' });
    here.child.kill('SIGCONT');
    await here.stop();
    const other = await home.run(['ls', 'tools']);
    expect(other.stdout).toContain('countdown');
    expect(other.stderr).toContain('which does not serve parley.config.json');
    expect(other.stderr).toContain('--config parley.config.json');
  });

  it('by the URL of one server: the tools are of that server', async () => {
    const home = newHome();
    const file = home.write('mcp.json', {
      mcpServers: { first: WEATHER, second: WEATHER },
      groups: { both: ['first', 'second'] },
    });
    const gateway = start(home, ['serve', file, '--port', '0']);
    const url = await gateway.url();
    await gateway.says('url = "http');
    await home.run(['ls', 'tools']); // both have been started, and have a tool of the same name
    expect((await home.run(['ls', 'tools', `${url}/second`])).stdout).toMatch(/get_weather +second /);
    const servers = async (part: string) =>
      (JSON.parse((await home.run(['ls', 'servers', '--json', `${url}${part}`])).stdout) as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await servers('/second')).toEqual(['second']);
    expect(await servers('/both')).toEqual(['first', 'second']);
    expect((await home.run(['status', `${url}/second`])).stdout).not.toContain('first');
  });

  it('whose state folder has a path too long for a socket', async () => {
    const home = newHome();
    const temp = join(home.path, 'tmp');
    mkdirSync(temp);
    const env = { XDG_STATE_HOME: join(home.path, 'long'.repeat(30)), TMPDIR: temp };
    const gateway = start(home, ['demo', '--port', '0'], env);
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
    expect((await home.run(['ls', 'tools', ...behind])).stdout).toMatch(
      /TOOL +ARGUMENTS +DESCRIPTION\nadd +a, b +Adds two numbers/,
    );
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
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'get_weather', server: 'weather' }]);
    expect(stderr).toContain('No gateway is running: the servers of parley.config.json are started for this.');
  });
});

describe('without a gateway', () => {
  it('status says so, which configuration it would read, and what to type', async () => {
    const home = newHome();
    const nothing = await home.run(['status']);
    expect(nothing).toMatchObject({ status: 1, stdout: '' });
    expect(nothing.stderr).toContain('no gateway is running here');
    expect(nothing.stderr).toContain('parley.config.jsonc');
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    const { status, stdout, stderr } = await home.run(['status']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'parley: no gateway is running here, and "status" starts nothing by itself.',
      'To start one with parley.config.json: parley serve',
      'To try its servers once, without a gateway: parley status parley.config.json',
      '',
    ]);
    expect((await home.run(['status', '--help'])).stdout).not.toContain('are started for this one command');
  });

  it('a slow server is waited for as long as the file says, and the help says how long that is', async () => {
    const home = newHome();
    // It would be there long before the 30 s that are the default.
    const late = `setTimeout(() => import(${JSON.stringify(EXTERNAL[1])}), 15_000)`;
    const slow = { command: process.execPath, args: ['-e', late] };
    const file = home.write('mcp.json', { mcpServers: { slow }, startMs: 500 });
    const { stdout, stderr } = await home.run(['ls', 'tools', '--config', file]);
    expect(stdout).not.toContain('get_weather');
    expect(stderr).toContain('slow is still starting after 0.5 s');
    const beside = home.write('both.json', { mcpServers: { slow, weather: WEATHER }, startMs: 500 });
    const listed = await home.run(['ls', 'tools', '--config', beside]);
    expect(listed.stdout).not.toContain('slow__');
    expect(listed.stderr).toContain('slow is still starting');
    const called = await home.run(['call', 'slow__get_weather', '--config', beside]);
    expect(called).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('slow is still starting') });
    expect((await home.run(['call', '--help'])).stdout).toMatch(/--timeout S .*default 60/);
  });
});

describe('the log of serve, off a terminal', () => {
  it('is JSON line by line, with what is said of the file and its changes', async () => {
    const home = newHome();
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER, dead: { command: 'no-such-command' } } });
    const gateway = start(home, ['serve', file, '--port', '0']);
    await gateway.says('url = "http');
    home.write('mcp.json', { mcpServers: { weather: WEATHER, other: WEATHER } });
    await gateway.says('has changed: started other; stopped dead');
    home.write('mcp.json', '{');
    await gateway.says('the previous configuration keeps running');
    const lines = gateway.stderr.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('{"time":'))).toEqual([]);
    expect(gateway.logged('notice')[0]).toMatchObject({ message: expect.stringContaining('not on PATH') });
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
      const found = gateway.logged('call');
      return found.length >= 2 && found;
    });
    expect(lines).toMatchObject([
      { server: 'weather', tool: 'get_weather', outcome: 'ok', ms: expect.any(Number) },
      { tool: 'nonsense', outcome: expect.stringContaining('error') },
    ]);
    expect(gateway.stderr).not.toContain('Oslo');
  });
});
