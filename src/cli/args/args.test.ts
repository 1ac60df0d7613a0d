import { describe, expect, it } from 'vitest';
import { readArgs } from './args.ts';

const DEMO = { name: 'demo', port: undefined, host: '127.0.0.1', open: false, stdio: false, log: undefined };
const WRAP = {
  name: 'wrap',
  revision: undefined,
  port: undefined,
  host: '127.0.0.1',
  open: false,
  startMs: 5e4,
  steps: [],
  typedHeaders: [],
  log: undefined,
  logCalls: false,
  isRecorded: true,
  isAsking: true,
};

function reasonFor(argv: string[]): string {
  const command = readArgs(argv);
  return command.name === 'mistake' ? command.reason : `no mistake: ${JSON.stringify(command)}`;
}

describe('readArgs', () => {
  it('reads a demo with its defaults', () => {
    expect(readArgs(['demo'])).toEqual(DEMO);
  });

  it('reads options wherever they stand', () => {
    const wanted = { ...DEMO, port: 0, host: '::1' };
    expect(readArgs(['demo', '--port', '0', '--host', '::1'])).toEqual(wanted);
    expect(readArgs(['--host=::1', '--port=0', 'demo'])).toEqual(wanted);
  });

  it('lets help win over everything else, and knows of which command', () => {
    expect(readArgs(['demo', '--port', 'x', '--help'])).toEqual({ name: 'help', of: 'demo' });
    expect(readArgs(['help', 'wrap'])).toEqual({ name: 'help', of: 'wrap' });
    expect(readArgs(['-h'])).toEqual({ name: 'help', of: undefined });
    expect(readArgs(['-v'])).toEqual({ name: 'version' });
  });

  it.each(['-1', '65536', '1e3', '0x10', '8470 ', ''])('refuses %j as a port', (port) => {
    expect(reasonFor(['demo', `--port=${port}`])).toBe(`--port must be a number from 0 to 65535, not "${port}".`);
  });

  it('refuses an empty host, which would mean every address', () => {
    expect(readArgs(['demo', '--host='])).toMatchObject({ name: 'mistake' });
  });

  it('never throws, whatever is typed', () => {
    for (const argv of [
      ['--'],
      ['-'],
      ['--='],
      ['---'],
      ['demo', '--', '--port'],
      ['\0'],
      [''],
      ['wrap'],
      ['wrap', '--'],
    ]) {
      expect(readArgs(argv)).toMatchObject({ name: 'mistake' });
    }
  });
});

describe('wrap', () => {
  it('leaves everything after its own options to the command', () => {
    const server = { command: 'npx', args: ['-y', 'some-server', '--port', '1', '--help'], env: {} };
    expect(readArgs(['wrap', '--', 'npx', '-y', 'some-server', '--port', '1', '--help'])).toEqual({ ...WRAP, server });
    expect(readArgs(['wrap', 'npx', '-y', 'some-server', '--port', '1', '--help'])).toEqual({ ...WRAP, server });
    expect(readArgs(['wrap', '--port', '9', '--', 'npx', '--', 'x'])).toMatchObject({
      port: 9,
      server: { command: 'npx', args: ['--', 'x'] },
    });
  });

  it('takes options on both sides of a URL', () => {
    const argv = ['wrap', '--port', '0', 'https://x.test/mcp', '--header', 'Authorization: Bearer a:b'];
    const server = { url: 'https://x.test/mcp', headers: { Authorization: 'Bearer a:b' } };
    expect(readArgs(argv)).toEqual({ ...WRAP, port: 0, server, typedHeaders: [['Authorization', 'Bearer a:b']] });
  });

  it('gives variables to a command and headers to a URL', () => {
    expect(readArgs(['wrap', '--env', 'A=1=2', '--env', 'B=', '--', 'x'])).toMatchObject({
      server: { env: { A: '1=2', B: '' } },
    });
    expect(reasonFor(['wrap', '--header', 'a:b', '--', 'x'])).toContain('--header is for a URL');
    expect(reasonFor(['wrap', '--env', 'a=b', 'http://x.test'])).toContain('--env is for a command');
    expect(reasonFor(['wrap', '--env', 'a', '--', 'x'])).toContain('write --env NAME=value');
    expect(reasonFor(['wrap', 'http://x.test', 'more'])).toContain('"more" was given');
  });

  it('knows the revisions', () => {
    expect(readArgs(['wrap', '--revision', '2025-06-18', 'x'])).toMatchObject({ revision: '2025-06-18' });
    expect(reasonFor(['wrap', '--revision', '2020-01-01', 'x'])).toContain('must be one of 2024-11-05');
  });
});

describe('the commands that ask', () => {
  it('take a configuration, a kind, or both, in any order', () => {
    expect(readArgs(['ls', 'a.json', 'tools'])).toMatchObject({ what: 'tools', config: 'a.json', url: undefined });
    expect(readArgs(['ls', '--url', 'http://x/mcp', '--json'])).toMatchObject({ what: undefined, json: true });
    expect(reasonFor(['ls', 'tools', 'prompts'])).toContain('one of tools');
    expect(reasonFor(['ls', 'a.json', '--url', 'http://x'])).toContain('one of them');
    expect(readArgs(['ls', 'tools', 'http://x/mcp'])).toMatchObject({ what: 'tools', url: 'http://x/mcp' });
    expect(readArgs(['ls', '--config', 'a.json'])).toMatchObject({ config: 'a.json' });
    expect(readArgs(['status', 'http://x/mcp', '--header', 'A: b', '--timeout', '2'])).toMatchObject({
      url: 'http://x/mcp',
      headers: { A: 'b' },
      timeoutMs: 2e3,
    });
  });

  it('read arguments as pairs and as an object', () => {
    const argv = ['call', 'add', '--arg', 'a=1', '--arg', 'b= 2', '{"c":3}', '-y'];
    const args = [
      ['a', '1'],
      ['b', ' 2'],
    ];
    expect(readArgs(argv)).toMatchObject({ tool: 'add', args, body: { c: 3 }, yes: true, json: false });
    expect(reasonFor(['call', 'add', '{c:3}'])).toContain('is not JSON');
    expect(reasonFor(['call', 'add', '[3]'])).toContain('one JSON object');
    expect(reasonFor(['call'])).toContain('parley ls tools');
  });

  it('want a URL that is one', () => {
    expect(reasonFor(['status', '--url', 'localhost:8470'])).toContain('is not a URL');
    expect(reasonFor(['call', 'x', '--header', 'a:b'])).toContain('--header goes with a URL');
  });

  it('take a command after --, with everything that belongs to it', () => {
    const server = { command: 'npx', args: ['-y', 'some-server', '--help', '--json'] };
    for (const words of [['ls', 'tools'], ['call', 'echo'], ['read', 'a://b'], ['prompt', 'p'], ['status']]) {
      expect(
        readArgs([...words, '--timeout', '3', '--', 'npx', '-y', 'some-server', '--help', '--json']),
      ).toMatchObject({
        name: words[0],
        server,
        json: false,
        timeoutMs: 3e3,
      });
    }
    expect(reasonFor(['ls', '--'])).toContain('after "--"');
    expect(reasonFor(['ls', '--url', 'http://x', '--', 'npx'])).toContain('one of them');
  });

  it('say which option has no value', () => {
    expect(readArgs(['call', 'x', '--arg'])).toMatchObject({
      name: 'mistake',
      reason: '--arg needs a value after it.',
    });
    expect(readArgs(['serve', '--port'])).toMatchObject({ name: 'mistake', reason: '--port needs a value after it.' });
  });

  it('say what was probably meant', () => {
    expect(reasonFor(['wrapp', '--', 'x'])).toBe('Unknown command "wrapp". Did you mean "wrap"?');
    expect(reasonFor(['list'])).toBe('Unknown command "list". Did you mean "ls"?');
    expect(reasonFor(['install'])).toBe('Unknown command "install". Did you mean "connect"?');
    expect(reasonFor(['--verison'])).toBe('Unknown option "--verison". Did you mean "--version"?');
    expect(reasonFor(['ls', 'tool'])).toContain('Did you mean "tools"?');
    expect(reasonFor(['ls', 'tools', 'memory'])).toContain('"memory" is not a file, nor one of tools');
    expect(reasonFor(['serve', '--prot', '1'])).toContain('Did you mean "--port"?');
    expect(readArgs(['serve', '--share', 'all'])).toMatchObject({ share: 'all' });
    expect(reasonFor(['serve', '--share', 'none'])).toContain('--share must be one of auto, session, all');
    expect(reasonFor(['wrap', '127.0.0.1:9101/mcp'])).toBe(
      '"127.0.0.1:9101/mcp" looks like a URL: write http://127.0.0.1:9101/mcp.',
    );
    expect(reasonFor(['wrap', 'htp://x.test/mcp'])).toContain('"htp://" is not supported');
  });

  it('tell the version however it is asked for', () => {
    for (const word of ['-V', '-v', '--version', 'version']) expect(readArgs([word])).toEqual({ name: 'version' });
  });

  it('complete four shells', () => {
    expect(readArgs(['completion', 'zsh'])).toEqual({ name: 'completion', shell: 'zsh' });
    expect(reasonFor(['completion', 'csh'])).toBe('Name your shell: bash, zsh, fish, powershell.');
  });
});
