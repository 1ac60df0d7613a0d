// The small parts of the command line that turn one thing into words, or words into a thing.
import { describe, expect, it } from 'vitest';
import { createLog } from '../kernel/base/log.ts';
import { GatewayError, ProtocolError } from '../kernel/base/errors.ts';
import { toBridgeLine } from './serving/bridge-line.ts';
import { createCliLog, formatLogLine } from './terminal/cli-log.ts';
import { formatError, explainStartFailure } from './terminal/format-error.ts';
import { toInheritedEnv, deriveServerName } from './running/named-server.ts';
import { toResultLines, toArguments } from './terminal/tool-text.ts';
import { ServerStderr } from './commands/wrap/server-stderr.ts';
import { firstSentence, toTable } from '../kernel/command/table.ts';

describe('the line of a bridge', () => {
  const client = { dialect: 'handshake', revision: 'old', transport: 'stdio' };

  it('tells both sides and whether they are of one era', () => {
    const server = { dialect: 'stateless', revision: 'new', transport: 'streamable-http' };
    expect(toBridgeLine(client, server)).toBe('client old over stdio ⇄ server new over HTTP, bridged');
    expect(toBridgeLine(client, { ...client, transport: 'http+sse' })).toContain('over HTTP+SSE, same era');
    expect(toBridgeLine(client, { ...server, dialect: 'draft', transport: 'websocket' })).toContain(
      'server draft over WebSocket',
    );
  });
});

describe('the log', () => {
  const line = (fields: object): string => {
    let written = '';
    createLog({ level: 'debug', write: (text) => (written = text) }).warn(fields, 'upstream.lost');
    return written;
  };

  it('the log is to be read on a terminal', () => {
    const pretty = formatLogLine(
      line({ server: 'files', reason: 'exit code 1', error: new Error('gone'), tries: 2 }),
      false,
    );
    expect(pretty).toMatch(
      /^\d\d:\d\d:\d\d warn {2}upstream\.lost server=files reason="exit code 1" error="gone" tries=2$/,
    );
    expect(formatLogLine(line({}), true)).toContain('\u001B[33mwarn');
  });

  it('the log is JSON elsewhere', () => {
    let written = '';
    createCliLog('warn', { write: (text) => (written += text) }).warn({ a: 1 }, 'x');
    expect(JSON.parse(written)).toMatchObject({ level: 'warn', event: 'x', a: 1 });
  });

  it('leaves what servers write to stderr as it is', () => {
    let [passed, logged] = ['', ''];
    const stderr = new ServerStderr((text) => (passed += text));
    const log = stderr.in(createLog({ level: 'debug', write: (text) => (logged += text) })).child({ server: 'x' });
    log.debug({ text: 'hello\n' }, 'upstream.stderr');
    log.debug({}, 'other');
    expect([passed, stderr.tail]).toEqual(['hello\n', 'hello']);
    expect(JSON.parse(logged)).toMatchObject({ event: 'other', server: 'x' });
  });
});

describe('arguments', () => {
  const schema = {
    properties: { text: { type: 'string' }, n: { type: 'integer' }, any: {}, both: { type: ['string', 'null'] } },
  };

  it('arguments are read as the tool wants them', () => {
    const typed: [string, string][] = [
      ['text', '3'],
      ['n', '3'],
      ['any', '[1]'],
      ['both', 'null'],
      ['other', 'words'],
    ];
    expect(toArguments(typed, { n: 1, body: true }, schema)).toEqual({
      text: '3',
      n: 3,
      any: [1],
      both: null,
      other: 'words',
      body: true,
    });
  });

  it('arguments that do not fit are left to the server to refuse', () => {
    expect(toArguments([['n', 'x']], {}, schema)).toEqual({ n: 'x' });
    expect(toArguments([['n', '7']], {}, undefined)).toEqual({ n: 7 });
  });
});

describe('a result', () => {
  it('a result is its text; other content is named', () => {
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
    const link = { type: 'resource_link' as const, uri: 'x://y', name: 'y' };
    expect(toResultLines({ content: [{ type: 'text', text: 'one' }, image, link] })).toEqual([
      'one',
      '[image image/png, 3 bytes; --json has it]',
      '[y: x://y]',
    ]);
    expect(toResultLines({ content: [], structuredContent: { a: 1 } })).toEqual(['{\n  "a": 1\n}']);
  });
});

describe('the name of a server nobody has named', () => {
  it.each([
    [['npx', '-y', '@modelcontextprotocol/server-everything@1.0', 'stdio'], 'server-everything'],
    [['uvx', 'mcp-server-git'], 'mcp-server-git'],
    [['/usr/bin/node', '/srv/files/server.mjs'], 'server'],
    [['node', '-e', 'run(); forever()'], 'node'],
    [['./my-server.exe'], 'my-server'],
  ])('%j is %s', ([command, ...args], name) => {
    expect(deriveServerName({ command: command!, args })).toBe(name);
  });

  it('a server by URL that nobody has named is called after its host', () => {
    expect(deriveServerName({ url: 'https://mcp.example.com/v1/mcp' })).toBe('mcp.example.com');
  });
});

describe('why a server did not start', () => {
  const server = { command: 'npx', args: ['-y', 'a server'] };
  const why = (reason: string | undefined, stderr = '', isGarbled = false) =>
    explainStartFailure({ server, reason, waitedMs: 2000, stderr, isGarbled });

  it('why a server of one command did not start is printed with the options of that command', () => {
    const once = (reason: string) =>
      explainStartFailure({ server, reason, waitedMs: 0, stderr: '', isGarbled: false, isOnce: true });
    expect(once('The connection to npx closed: exit code 1')).not.toContain('--env');
    expect(once('npx did not answer initialize within 60000 ms')).toContain('or raise --timeout');
    const away = { url: 'https://x.test/mcp' };
    const reason = 'Cannot reach https://x.test/mcp: getaddrinfo ENOTFOUND x.test';
    expect(explainStartFailure({ server: away, reason, waitedMs: 0, stderr: '', isGarbled: false })).toMatch(
      /^The server cannot be reached: https:\/\/x\.test\/mcp: getaddrinfo ENOTFOUND x\.test\. /,
    );
  });

  it('why a server did not start is told with what to do', () => {
    expect(why('Cannot reach npx: command not found: npx; is it on PATH?')).toMatch(
      /^The server could not be started: command not found: npx; is it on PATH\? Check its spelling/,
    );
    expect(why('The connection to npx closed: exit code 1; stderr: no key')).toContain(
      'started: exit code 1; stderr: no key. Run it by itself to see what it lacks: npx -y "a server"',
    );
    expect(why(undefined)).toContain('did not start within 2 s. It wrote nothing to stderr.');
    expect(why(undefined, 'thinking')).toContain('It last wrote to stderr: thinking. It may wait');
    expect(why(undefined, '', true)).toContain(
      '2 s. It wrote to stdout what is not an MCP message. It wrote nothing to',
    );
  });

  it('differs for URLs', () => {
    const at = (reason: string | undefined) =>
      explainStartFailure({
        server: { url: 'https://x.test/mcp?key=1' },
        reason,
        waitedMs: 1,
        stderr: '',
        isGarbled: false,
      });
    expect(at('https://x.test/mcp refused the credentials: HTTP 401')).toContain('--header "Authorization');
    expect(at('Cannot reach https://x.test/mcp: ECONNREFUSED')).toContain('x.test/mcp: ECONNREFUSED. Check the URL');
    expect(at(undefined)).toBe('The server did not answer within 0.001 s. Check the URL, and that the server runs.');
  });
});

describe('the environment of a wrapped command', () => {
  it('the environment of a wrapped command is ours, without what it gets anyway and what is the shell’s', () => {
    const ours = { PATH: '/bin', HOME: '/root', PWD: '/x', API_KEY: 'k', FUNC: '() { :; }', GONE: undefined };
    expect(toInheritedEnv({ MORE: '1' }, ours)).toEqual({ API_KEY: 'k', MORE: '1' });
  });
});

describe('a table', () => {
  it('a table is as wide as it has to be, and no wider than the terminal', () => {
    expect(
      toTable(
        [
          ['a', 'one'],
          ['bcd', 'two'],
        ],
        { indent: ' ' },
      ),
    ).toEqual([' a    one', ' bcd  two']);
    expect(toTable([['a', 'x'.repeat(90)]], { width: 50 })[0]).toHaveLength(50);
    expect(toTable([])).toEqual([]);
  });

  it('a table has the first sentence of a text', () => {
    expect(firstSentence('Reads a file. Slowly.\nMore')).toBe('Reads a file.');
    expect(firstSentence('Version 1.5 of it\nMore')).toBe('Version 1.5 of it');
  });
});

describe('an error', () => {
  it('an error is told with what to do', () => {
    const error = new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'gone' });
    expect(formatError(error)).toBe('Cannot reach x: gone. Check the command or URL, and that the server runs.');
    expect(formatError(new ProtocolError(-32602, 'No'))).toBe('the server refused (-32602): No.');
    expect(formatError(new Error('What?'))).toBe('What?');
    const away = new ProtocolError(-32603, 'Cannot reach files: gone', { exchange: 'a-1' });
    expect(formatError(away)).toBe('Cannot reach files: gone.');
    const internal = new ProtocolError(-32603, 'Internal error', { exchange: 'a-1' });
    expect(formatError(internal)).toContain('(exchange a-1)');
  });
});
