// `parley wrap` as a client runs it: real servers behind it, and some that are none.
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';
import { send } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { MODERN, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { DEMO_FIXTURE, EXTERNAL, Home, PARLEY_DEMO, isAlive } from '../helpers/parley.ts';
import { startDemoFixture } from '../helpers/server-process.ts';
import { until } from '../helpers/until.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const HANG =
  'console.log("Listening"); console.error("pid " + process.pid); process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)';

describe('a server that is a command', () => {
  it('of the handshake era is presented as itself', async () => {
    await using parley = home.start(['wrap', '--', ...EXTERNAL]);
    const client = stdioWire(parley.child);
    const { result } = await client.initialize('2025-06-18');
    expect(result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'external', version: '1.0.0' } });
    const called = await client.call('get_weather', { location: 'Oslo' });
    expect(called.result!.content![0]!.text).toBe('The weather in Oslo is 72°F and sunny.');
    await parley.says('client 2025-06-18 over stdio ⇄ server 2025-03-26 over stdio, same era\n');
    parley.child.stdin!.end();
    expect(await parley.ended()).toBe(0);
    expect(parley.stderr.match(/⇄/g)).toHaveLength(1);
  });

  it('of both eras is spoken to in the era of the client', async () => {
    await using parley = home.start(['wrap', '--', ...PARLEY_DEMO]);
    await stdioWire(parley.child).initialize('2025-06-18');
    await parley.says('client 2025-06-18 over stdio ⇄ server 2025-11-25 over stdio, same era');
  });

  it('of the stateless era answers a client of the other one', async () => {
    await using parley = home.start(['wrap', '--revision', MODERN, '--', ...PARLEY_DEMO]);
    const client = stdioWire(parley.child);
    const { result } = await client.initialize('2025-06-18');
    expect(result).toMatchObject({
      serverInfo: { name: 'parley-demo' },
      instructions: expect.stringContaining('A demo.'),
    });
    await parley.says(`client 2025-06-18 over stdio ⇄ server ${MODERN} over stdio, bridged`);
    expect((await client.call('add', { a: 2, b: 40 })).result).toMatchObject({ structuredContent: { sum: 42 } });
  });

  it('can ask, also where the client cannot be asked', async () => {
    await using parley = home.start(['wrap', '--', 'node', join(ROOT, 'examples/questions/trips.mjs')]);
    const client = stdioWire(parley.child);
    await client.initialize('2025-06-18');
    let told = await client.call('book');
    for (const answer of [{ city: 'Oslo' }, { days: 3 }]) {
      const [, handle] = /"handle":"([^"]+)"/.exec(told.result!.content![0]!.text) ?? [];
      told = await client.call('parley_answer', { handle, answer });
    }
    expect(told.result!.content![0]!.text).toBe('Oslo, 3 days');
  });

  it('can be pinned to a revision, and answers a stateless client', async () => {
    await using parley = home.start(['wrap', '--revision', '2025-03-26', '--', ...DEMO_FIXTURE]);
    const client = stdioWire(parley.child);
    const { body } = modern('tools/call', { name: 'get_weather', arguments: { location: 'Rome' } });
    client.write(body);
    expect((await client.answerTo(body.id)).result!.content![0]!.text).toContain('Rome');
    await parley.says(`client ${MODERN} over stdio ⇄ server 2025-03-26 over stdio, bridged`);
  });

  it('is one process, also for a client that can be asked', async () => {
    const program = `console.error("started"); import(${JSON.stringify(`file://${EXTERNAL[1]!}`)})`;
    await using parley = home.start(['wrap', '--', process.execPath, '-e', program]);
    const client = stdioWire(parley.child);
    await client.initialize('2025-11-25', { elicitation: {}, roots: {}, sampling: {} });
    expect((await client.call('get_weather', { location: 'Oslo' })).result).toMatchObject({ isError: false });
    parley.child.stdin!.end();
    expect(await parley.ended()).toBe(0);
    expect(parley.stderr.match(/started/g)).toHaveLength(1);
  });

  it('is not started for a client that says nothing', async () => {
    const run = await home.run(['wrap', '--', process.execPath, '-e', 'console.error("started")']);
    expect(run).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('has the environment of the client, what --env gives, and its own stderr', async () => {
    const given = 'console.error("given", process.env.FROM_CLIENT, process.env.FROM_OPTION)';
    const program = `${given}; import(${JSON.stringify(`file://${EXTERNAL[1]!}`)})`;
    const args = ['wrap', '--env', 'FROM_OPTION=two', '--', process.execPath, '-e', program];
    await using parley = home.start(args, { FROM_CLIENT: 'one' });
    await stdioWire(parley.child).initialize();
    await parley.says('given one two\n');
  });
});

describe('a server that has a URL', () => {
  it('is reached over HTTP for a client on stdio', async () => {
    await using server = await startDemoFixture();
    await using parley = home.start(['wrap', server.url, '--header', 'X-Test: yes']);
    const client = stdioWire(parley.child);
    expect((await client.initialize('2025-06-18')).result).toMatchObject({ serverInfo: { name: 'example-server' } });
    await parley.says('client 2025-06-18 over stdio ⇄ server 2025-11-25 over HTTP, same era');
    const called = await client.call('get_weather', { location: 'Bern' });
    expect(called.result!.content![0]!.text).toContain('Bern');
  });

  it('that nobody answers is told, and where to look', async () => {
    await using parley = home.start(['wrap', 'http://127.0.0.1:9/mcp']);
    const { error } = await stdioWire(parley.child).request('initialize', { protocolVersion: '2025-06-18' });
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('127.0.0.1:9') });
    expect(error!.message).toContain('Check the URL');
  });
});

describe('on a port', () => {
  it('a stdio server has a URL, and the lines to paste', async () => {
    await using parley = home.start(['wrap', '--port', '0', '--open', '--', ...EXTERNAL]);
    const url = await parley.url();
    await parley.says(`claude mcp add --transport http external-server ${url}`);
    const session = await openSession(url, { version: '2025-11-25' });
    const { json } = await session.call('get_weather', { location: 'Oslo' });
    expect(json.result!.content![0]!.text).toContain('Oslo');
    await parley.says('client 2025-11-25 over HTTP ⇄ server 2025-03-26 over stdio, same era');
    expect(await parley.stop('SIGINT')).toBe(0);
  });

  it('a command that cannot be run ends it, with the reason and without a welcome', async () => {
    const missing = await home.run(['wrap', '--port', '0', '--', 'no-such-command-here']);
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^parley: The server could not be started: command not found: no-such-command-here/);
    const refused = await home.run(['wrap', '--port', '0', '--', home.write('not-executable', '#!/bin/sh')]);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('not allowed to run') });
  });

  it('a server that is slow to start does not end it', async () => {
    await using parley = home.start([
      'wrap',
      '--port',
      '0',
      '--start-timeout',
      '1',
      '--',
      process.execPath,
      '-e',
      HANG,
    ]);
    await parley.says('did not start within 1 s');
    const { status } = await send(new URL('/healthz', await parley.url()).href, { method: 'GET' });
    expect([status, parley.child.exitCode]).toEqual([200, null]);
  });

  it('a server that ends at once is told, and is started again for a client', async () => {
    const [, file = ''] = EXTERNAL;
    const ready = join(home.path, 'ready');
    const program = `require('node:fs').existsSync(${JSON.stringify(ready)}) ? import(${JSON.stringify(`file://${file}`)}) : process.exit(3)`;
    await using parley = home.start(['wrap', '--port', '0', '--open', '--', process.execPath, '-e', program]);
    await parley.says('exit code 3');
    await parley.says('It is retried when a client connects.');
    home.write('ready', '');
    const url = await parley.url();
    const answer = await until('the server to be back', async () => {
      const { json } = await send(url, modern('tools/call', { name: 'get_weather', arguments: { location: 'Oslo' } }));
      return json.result;
    });
    expect(JSON.stringify(answer)).toContain('Oslo');
  });

  it('the server that was started before anybody came is the one for all who declare nothing', async () => {
    const program = `console.error("started"); import(${JSON.stringify(`file://${EXTERNAL[1]!}`)})`;
    await using parley = home.start(['wrap', '--port', '0', '--open', '--', process.execPath, '-e', program]);
    const url = await parley.url();
    for (const version of ['2025-11-25', '2025-06-18']) {
      const session = await openSession(url, { version });
      expect((await session.call('get_weather', { location: 'Oslo' })).json.result).toMatchObject({ isError: false });
    }
    expect(await parley.stop()).toBe(0);
    expect(parley.stderr.match(/started/g)).toHaveLength(1);
  });
});

describe('a server that does not start', () => {
  it('because there is no such command, is an answer to initialize and words on stderr', async () => {
    await using parley = home.start(['wrap', '--', 'no-such-command-here']);
    const client = stdioWire(parley.child);
    const { error } = await client.request('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('command not found') });
    await parley.says('parley: The server could not be started: command not found: no-such-command-here');
    parley.child.stdin!.end();
    expect(await parley.ended()).toBe(1);
  });

  it('because there is no such command, is told also where no client says anything', async () => {
    const { status, stdout, stderr } = await home.run(['wrap', '--', 'no-such-command-here']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^parley: The server could not be started: command not found: no-such-command-here/);
  });

  it('is told to a stateless client, too', async () => {
    await using parley = home.start(['wrap', '--', 'no-such-command-here']);
    const client = stdioWire(parley.child);
    const { body } = modern('server/discover');
    client.write(body);
    expect((await client.answerTo(body.id)).error!.message).toContain('command not found');
  });

  it('because it exits at once, is reported with the end of its stderr', async () => {
    const program = 'console.error("API_KEY is missing"); process.exit(3)';
    await using parley = home.start(['wrap', '--', process.execPath, '-e', program]);
    const { error } = await stdioWire(parley.child).request('initialize', { protocolVersion: '2025-06-18' });
    expect(error!.message).toContain('exit code 3; stderr: API_KEY is missing');
    expect(error!.message).toContain('--env NAME=value');
    await parley.says(/^API_KEY is missing\n/);
  });

  it('because it hangs, is told in time, and it is gone afterwards', async () => {
    await using parley = home.start(['wrap', '--start-timeout', '2', '--', process.execPath, '-e', HANG]);
    const { error } = await stdioWire(parley.child).request('initialize', { protocolVersion: '2025-06-18' });
    expect(error!.message).toMatch(
      /within 2 s\. It wrote to stdout what is not an MCP message: Parse error: "Listening"\. It last wrote to stderr: pid/,
    );
    expect(error!.message).toContain('--start-timeout');
    const pid = Number((await parley.says(/pid (\d+)/))[1]);
    expect(isAlive(pid)).toBe(true);
    parley.child.stdin!.end();
    expect(await parley.ended()).toBe(1);
    await until('the hanging server to be gone', () => !isAlive(pid));
  });
});

describe('the end', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s ends the server, too', async (signal) => {
    const program = `console.error("pid " + process.pid); import(${JSON.stringify(`file://${EXTERNAL[1]!}`)})`;
    await using parley = home.start(['wrap', '--', process.execPath, '-e', program]);
    await stdioWire(parley.child).initialize();
    const pid = Number((await parley.says(/pid (\d+)/))[1]);
    expect(await parley.stop(signal)).toBe(0);
    await until('the server to be gone', () => !isAlive(pid));
  });

  it('by a second signal does not wait for a server that will not go, and leaves none behind', async () => {
    await using parley = home.start(['wrap', '--', process.execPath, '-e', HANG]);
    stdioWire(parley.child).write(rpc('initialize', { protocolVersion: '2025-06-18' }));
    const pid = Number((await parley.says(/pid (\d+)/))[1]);
    parley.child.kill('SIGINT');
    const again = setInterval(() => parley.child.kill('SIGINT'), 50);
    const status = await parley.ended();
    clearInterval(again);
    expect([0, 1, 130]).toContain(status);
    await until('the hanging server to be gone', () => !isAlive(pid));
  });
});
