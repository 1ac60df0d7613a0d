// `parley check`, and the commands that need no server.
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { EXTERNAL, Home } from '../helpers/parley.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const GOOD = { mcpServers: { a: { command: EXTERNAL[0], args: [EXTERNAL[1]], env: { TOKEN: '${TOKEN}' } } } };
const BAD = `{
  "mcpServers": {
    "files": { "comand": "npx" },
    "web": { "url": "not a url" }
  },
  "names": "sometimes"
}`;

describe('parley check', () => {
  it('finds the configuration and says that it is good', async () => {
    using own = new Home();
    own.write('parley.config.json', GOOD);
    expect(await own.run(['check'], '', { TOKEN: 'abc' })).toEqual({
      status: 0,
      stdout: 'ok: parley.config.json has 1 server\n',
      stderr: '',
    });
  });

  it('finds the mistakes that people make most', async () => {
    using own = new Home();
    const servers = {
      one: { command: 'npx -y some-server .' },
      two: { command: EXTERNAL[0], args: ['-y pkg'] },
      three: { command: '~/bin/server' },
      four: { command: EXTERNAL[0], cwd: './nowhere' },
      five: { command: 'no-such-command-here' },
      six: null,
      мой: { command: EXTERNAL[0], disabledTools: ['delete'] },
    };
    own.write('mcp.json', { mcpServers: servers });
    const { status, stdout } = await own.run(['check', 'mcp.json']);
    expect(status).toBe(0);
    for (const words of [
      'mcpServers.one.command: a command and its arguments are one text here. Write "command": "npx", "args": ["-y","some-server","."].',
      'mcpServers.two.args[0]: this is one argument with a space in it',
      'mcpServers.three.command: "~" does not stand for your home here',
      'mcpServers.four.cwd: this folder does not exist',
      'mcpServers.five.command: this command is not on PATH',
      'mcpServers.six: this server is empty, and left out',
      'ok: mcp.json has 6 servers; 6 warnings',
    ]) {
      expect(stdout).toContain(words);
    }
  });

  it('finds logins that cannot work, and `serve` says the same', async () => {
    using own = new Home();
    const front = { issuer: 'https://accounts.google.com', clientId: 'c', clientSecret: 's' };
    const url = 'https://mcp.example.com/mcp';
    const files: [object, string][] = [
      [
        { auth: { front }, publicUrl: 'https://mcp.example.com', mcpServers: { a: { url } } },
        'auth.front: everybody can have an account there',
      ],
      [{ mcpServers: { a: { url, account: 'user' } } }, 'mcpServers.a.account: users must be told apart'],
      [
        { mcpServers: { a: { url, auth: { grant: 'client_credentials', clientId: 'c' } } } },
        'mcpServers.a.auth: client_credentials needs "clientId", and "clientSecret" or "clientKey"',
      ],
    ];
    for (const [file, words] of files) {
      own.write('mcp.json', file);
      expect(await own.run(['check', 'mcp.json'])).toMatchObject({ status: 1, stdout: expect.stringContaining(words) });
      const served = await own.run(['serve', 'mcp.json', '--port', '0']);
      expect(served).toMatchObject({ status: 1, stderr: expect.stringContaining(words) });
      expect(served.stderr).not.toMatch(/^ +at /m);
    }
  });

  it('refuses issuers whose URL has what OAuth forbids in it, where it stands, and never repeats a password', async () => {
    using own = new Home();
    const text = `{
  "mcpServers": { "a": { "url": "https://mcp.example.com/mcp" } },
  "publicUrl": "https://gw.example.com",
  "auth": {
    "issuers": [
      "https://login.example.com#x",
      { "issuer": "https://login.example.com/?tenant=1" },
      "https://ann:hunter2@login.example.com",
      "ldap://login.example.com",
      "https://login.example.com/#",
      "https://login.example.com/realms/one"
    ],
    "front": {
      "issuer": "https://idp.example.com/?",
      "clientId": "c",
      "assertions": ["https://idp.example.com/#frag"]
    }
  }
}`;
    own.write('parley.config.json', text);
    const checked = await own.run(['check']);
    const served = await own.run(['serve', '--port', '0']);
    expect([checked.status, served.status]).toEqual([1, 1]);
    for (const output of [checked.stdout, served.stderr]) {
      for (const words of [
        'parley.config.json:6:7: error: auth.issuers[0]: the URL of an issuer must not have a "#"',
        'parley.config.json:7:19: error: auth.issuers[1].issuer: the URL of an issuer must not have a "?"',
        'parley.config.json:8:7: error: auth.issuers[2]: the URL of an issuer must not have a user name or password',
        'parley.config.json:9:7: error: auth.issuers[3]: the issuer is not an https:// URL',
        'parley.config.json:10:7: error: auth.issuers[4]: the URL of an issuer must not have a "#"',
        'parley.config.json:14:17: error: auth.front.issuer: the URL of an issuer must not have a "?"',
        'parley.config.json:16:22: error: auth.front.assertions[0]: the URL of an issuer must not have a "#"',
      ])
        expect(output).toContain(words);
      expect(output).not.toMatch(/hunter2|issuers\[5\]/);
    }
  });

  it('says everything in one run, whatever else is wrong', async () => {
    using own = new Home();
    own.write('parley.config.json', {
      mcpServers: {
        mistyped: { command: EXTERNAL[0], cwd: './nowhere', sandbox: { write: ['./not-there', 5] }, retries: 3 },
        lost: { command: 'no-such-command-here', args: ['-y pkg', 7] },
        unset: { command: '${NOT_SET}', cwd: '${NOT_SET}' },
        itself: { command: 'parley', args: ['serve', 'parley.config.json'] },
      },
      listen: { port: 0, tls: { key: 'no-key.pem', cert: 'no-cert.pem' } },
      rules: [
        { tool: 'a', effect: 'deny', when: 'args.' },
        { tool: 'b', effect: 'perhaps' },
      ],
      steps: ['./no-step.mjs'],
      keys: 'short',
    });
    const { status, stdout } = await own.run(['check']);
    expect(status).toBe(1);
    const [told, hidden] = [
      [
        'error: mcpServers.mistyped.retries: unknown key',
        'error: mcpServers.mistyped.sandbox.write[1]: must be',
        'warning: mcpServers.mistyped.cwd: this folder does not exist',
        'warning: mcpServers.mistyped.sandbox.write[0]: this does not exist',
        'warning: mcpServers.lost.command: this command is not on PATH',
        'warning: mcpServers.lost.args[0]: this is one argument with a space in it',
        'error: mcpServers.unset.command: the environment variable NOT_SET is not set',
        'warning: mcpServers.itself: this command serves the same file again',
        'error: listen.tls: a file for TLS cannot be read',
        'error: rules[0].when: ',
        'error: rules[1].effect: "perhaps" is not known here',
        'error: steps[0]: no-step.mjs: there is no such file',
        'error: keys: this key is too short',
      ],
      ['warning: mcpServers.unset', 'undefined'],
    ];
    for (const words of told) expect(stdout).toContain(words);
    for (const words of hidden) expect(stdout).not.toContain(words);
  });

  it('says which entry of a file of a client is left out, and why; the others are served', async () => {
    using own = new Home();
    const good = { command: EXTERNAL[0], args: [EXTERNAL[1]] };
    const bad = { command: EXTERNAL[0], env: { TOKEN: '${MY_TOKEN}' } };
    own.write('mcp.json', { mcpServers: { good, bad, half: { ...good, timeout: 1500.5 }, off: { disabled: true } } });
    const checked = await own.run(['check', 'mcp.json']);
    expect(checked).toMatchObject({ status: 0, stderr: '' });
    for (const words of [
      'warning: mcpServers.bad.env.TOKEN: the environment variable MY_TOKEN is not set. Set it where Parley is started',
      'The server "bad" is left out until this is corrected.',
      'warning: mcpServers.half.timeout: must be a whole number',
      'ok: mcp.json has 4 servers, 2 left out, 1 switched off; 2 warnings',
    ]) {
      expect(checked.stdout).toContain(words);
    }
    const listed = await own.run(['ls', 'tools', '--config', 'mcp.json']);
    expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('get_weather') });
    expect(listed.stderr).toContain('The server "bad" is left out until this is corrected.');
    const { stdout } = await own.run(['check', 'mcp.json'], '', { MY_TOKEN: 'x' });
    expect(stdout).not.toContain('mcpServers.bad');
  });

  it('reads the file of Codex, says which servers of projects are served, and where a step is wrong', async () => {
    using own = new Home();
    own.write('config.toml', 'model = "x"\n[mcp_servers.files]\ncommand = "node"\nenabled_tools = ["read"]\n');
    const toml = await own.run(['check', 'config.toml', '--run-steps']);
    expect(toml).toMatchObject({ status: 0, stdout: 'ok: config.toml has 1 server\n' });
    const projects = {
      [realpathSync(own.path)]: { mcpServers: { here: { command: 'node' } } },
      '/srv/app': { mcpServers: { db: { command: 'x' } } },
    };
    own.write('.claude.json', { mcpServers: {}, projects });
    const claude = await own.run(['check', '.claude.json', '--run-steps']);
    expect(claude.stdout).toContain('note: projects: servers of other projects are not served: /srv/app');
    expect(claude.stdout).toContain('the servers of this project are served, too: here');
    expect(claude.stdout).toMatch(/\nok: \.claude\.json has 1 server\n$/);
    own.write('broken.mjs', 'export default 3;');
    own.write('parley.config.json', { ...GOOD, steps: ['./broken.mjs'] });
    const { stdout, status } = await own.run(['check', '--run-steps'], '', { TOKEN: 'abc' });
    expect(stdout).toMatch(/parley\.config\.json:\d+:5: error: steps\[0\]: /);
    expect(status).toBe(1);
  });

  it('loads the steps also where something else is wrong, and says where each of them stands', async () => {
    using own = new Home();
    own.write('broken.mjs', 'export default 3;');
    own.write('makes.mjs', 'export default (options) => ({ name: "made", handle: (exchange, next) => next() });');
    own.write('good.mjs', 'export default (exchange, next) => next();');
    const servers = '"mcpServers": { "a": { "comand": "x" } }';
    own.write('parley.config.json', `{ ${servers}, "steps": ["./good.mjs", "./broken.mjs", "./makes.mjs"] }`);
    const { stdout, status } = await own.run(['check', '--run-steps']);
    expect(status).toBe(1);
    expect(stdout).toContain('parley.config.json:1:26: error: mcpServers.a.comand: unknown key');
    expect(stdout).toMatch(/parley\.config\.json:1:69: error: steps\[1\]: .*broken\.mjs: does not export a step/);
    expect(stdout).toContain(
      'parley.config.json:1:85: warning: steps[2]: this function takes no exchange and next, as a step does: it looks like one that makes a step of options. ' +
        'If it does, give them, or {}: { "./makes.mjs": {} }.',
    );
    expect(stdout).not.toContain('steps[0]');
  });

  it.each([
    ['among others', { mcpServers: { a: { comand: 'x' } }, steps: ['./gone.mjs', './broken.mjs'] }, 4],
    ['alone', { ...GOOD, steps: ['./gone.mjs', './broken.mjs'] }, 2],
  ])('finds no error that serve does not tell as well: files of steps, %s', async (_, config, count) => {
    using own = new Home();
    own.write('broken.mjs', 'export default 3;');
    own.write('parley.config.json', config);
    const errorsIn = (text: string) => text.split('\n').filter((line) => line.includes(': error: '));
    const checked = errorsIn((await own.run(['check', '--run-steps'], '', { TOKEN: 'abc' })).stdout);
    expect(checked).toHaveLength(count);
    const served = await own.run(['serve', '--port', '0'], '', { TOKEN: 'abc' });
    expect(errorsIn(served.stderr)).toEqual(checked);
    expect(served.status).toBe(1);
    expect(served.stderr).toMatch(/parley\.config\.json cannot be used\. .*parley check parley\.config\.json\n$/);
  });

  it('prints the JSON Schema for editors', async () => {
    const { stdout } = await home.run(['check', '--schema']);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Parley' });
  });

  it('tells all problems at once, each with its place and what to do', async () => {
    home.write('parley.config.json', BAD);
    const { status, stdout, stderr } = await home.run(['check']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    const places = [...stdout.matchAll(/^parley\.config\.json:(\d+):\d+: error: /gm)].map(([, line]) => Number(line));
    expect(places).toEqual(expect.arrayContaining([3, 4, 6]));
    expect(stdout).toContain('command');
    expect(stdout).toMatch(/\d errors\n$/);
  });

  it('tells problems as JSON', async () => {
    home.write('parley.config.json', BAD);
    const { status, stdout } = await home.run(['check', '--json']);
    const { ok, problems } = JSON.parse(stdout) as { ok: boolean; problems: { line: number; hint: string }[] };
    expect({ status, ok }).toEqual({ status: 1, ok: false });
    for (const { hint } of problems) expect(hint).not.toBe('');
  });

  it('prints the configuration as it is understood, without secrets', async () => {
    const file = home.write('good.json', GOOD);
    const { status, stdout } = await home.run(['check', file, '--print'], '', { TOKEN: 'hunter2hunter2' });
    expect(status).toBe(0);
    expect(stdout).not.toContain('hunter2');
    const limits = { maxRequestBytes: 4_194_304 };
    expect(JSON.parse(stdout)).toMatchObject({ servers: { a: { start: 'lazy' } }, listen: { port: 8470 }, limits });
  });

  it('says what to do where there is no configuration', async () => {
    using own = new Home();
    const { status, stderr } = await own.run(['check']);
    expect(status).toBe(1);
    expect(stderr).toContain('no configuration was found');
    expect(stderr).toContain('parley.config.jsonc');
    const missing = await own.run(['serve', 'nothing.json']);
    expect(missing.stderr).toContain('nothing.json is not there. Check the path.');
    expect(missing.stderr).not.toContain('cannot be used');
  });

  it('is what serve says, too, before it starts anything', async () => {
    home.write('parley.config.json', BAD);
    const { status, stdout, stderr } = await home.run(['serve']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/parley\.config\.json:3:\d+: error/);
  });
});

describe('parley completion', () => {
  it('completes in bash', async () => {
    const { stdout } = await home.run(['completion', 'bash']);
    const complete = (line: string): string[] => {
      const words = line.split(' ');
      const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
      const script = `${stdout}\n${set}; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout: found, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', cwd: home.path });
      expect(stderr).toBe('');
      return found.trim().split('\n');
    };
    expect(complete('parley s')).toEqual(['serve', 'status']);
    expect(complete('parley wrap --re')).toEqual(['--revision']);
    expect(complete('parley wrap --log d')).toEqual(['debug']);
    expect(complete('parley ls t')).toEqual(['tools']);
  });

  it.each(['zsh', 'fish'])('writes a script for %s that it can read', async (shell) => {
    const { status, stdout } = await home.run(['completion', shell]);
    expect(status).toBe(0);
    for (const word of ['wrap', 'serve', 'revision']) expect(stdout).toContain(word);
    if (spawnSync(shell, ['--version']).status !== 0) return; // not on this machine
    expect(spawnSync(shell, ['-n', '-c', stdout], { encoding: 'utf8' }).stderr).toBe('');
  });
});

describe('help', () => {
  it.each(['wrap', 'serve', 'check', 'ls', 'call', 'status', 'demo', 'completion'])(
    'of %s has examples',
    async (name) => {
      const { status, stdout, stderr } = await home.run([name, '--help']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(`parley ${name}`);
      for (const part of ['Usage', 'Options', 'Examples', 'Exit status']) expect(stdout).toContain(part);
    },
  );
});
