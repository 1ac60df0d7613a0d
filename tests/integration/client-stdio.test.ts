// Our client and servers on stdio that misbehave, each in its own way: nothing hangs, errors say what happened, and no
// process is left.
import { afterEach, describe, expect, test } from 'vitest';
import { childrenOfThis, connected, fixture, refusal, textOf, untilGone } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';

const before = new Set(childrenOfThis());

afterEach(() => until('every child process to be gone', () => childrenOfThis().every((pid) => before.has(pid))));

describe('finding out what a server speaks', () => {
  test('one that exits on the first question is started again and initialized', async () => {
    await using client = await connected(fixture('exits-before-initialize'));
    expect(client.server).toMatchObject({ dialect: 'handshake', info: { name: 'fixture' } });
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('one that is silent to it is initialized', async () => {
    await using client = await connected(fixture('silent-before-initialize'), { probeMs: 300 });
    expect(client.server.dialect).toBe('handshake');
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('one of the newest era that was slow to start is recognised', async () => {
    await using client = await connected(fixture('slow-start-modern'), { probeMs: 300 });
    expect(client.server).toMatchObject({ dialect: 'stateless', revision: '2026-07-28' });
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('one that never answers is given up, with the end of its stderr', async () => {
    const error = await refusal(fixture('never-answers'), { probeMs: 300, timeoutMs: 5000 });
    expect(error.code).toBe('UPSTREAM_TIMEOUT');
    expect(error.message).toContain('did not answer initialize within 5000 ms');
    expect(error.message).toContain('Please log in at https://example.com/device');
  });

  test('a command that does not exist, and one that just ends, are told apart', async () => {
    const missing = await refusal({ command: 'no-such-command-anywhere' });
    expect(missing).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', message: expect.stringContaining('is it on PATH?') });
    const script = 'console.error("no such option: --mcp"); process.exit(2)';
    const ended = await refusal({ command: process.execPath, args: ['-e', script] });
    expect(ended).toMatchObject({ code: 'UPSTREAM_CLOSED', message: expect.stringContaining('no such option: --mcp') });
    expect(ended.message).toContain('exit code 2');
  });
});

describe('a server that', () => {
  test('says garbage, and half lines, is understood all the same', async () => {
    await using client = await connected(fixture('says-garbage'));
    expect(await textOf(client, 'echo', { text: 'grüße 👋' })).toBe('grüße 👋');
  });

  test('floods stderr is not stopped by it', async () => {
    await using client = await connected(fixture('floods-stderr'), { probeMs: 20_000 });
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('dies in a call fails all waiting calls, with the end of its stderr and without our secrets', async () => {
    const env = { DB_PASSWORD: 'hunter2-hunter2' };
    await using client = await connected(fixture('dies-mid-call', [], { env }));
    const calls = await within('the calls', Promise.allSettled([client.callTool('a'), client.callTool('b')]));
    const [first] = calls.map((call) => (call.status === 'rejected' ? (call.reason as Error) : undefined));
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(first).toMatchObject({ code: 'UPSTREAM_CLOSED', message: expect.stringContaining('Traceback') });
    expect(first?.message).toContain('exit code 3');
    expect(first?.message).not.toContain('hunter2');
    expect(await within('closed', client.closed)).toContain('exit code 3');
    await expect(client.callTool('c')).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  });

  test('answers with too much fails that call alone', async () => {
    await using client = await connected(fixture('huge-result'), { limits: { maxResultBytes: 100_000 } });
    await expect(within('the huge call', client.callTool('huge'))).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID',
      message: expect.stringContaining('larger than 100000 bytes'),
    });
    expect(await textOf(client, 'echo', { text: 'still here' })).toBe('still here');
  });

  test('answers twice is believed once', async () => {
    await using client = await connected(fixture('answers-twice'));
    expect(await textOf(client, 'echo', { text: 'one' })).toBe('one');
    expect(await textOf(client, 'echo', { text: 'two' })).toBe('two');
  });

  test('answers with an id of the wrong type is told so at once', async () => {
    await using client = await connected(fixture('wrong-id-type'));
    await expect(within('the call', client.callTool('echo'))).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID',
      message: expect.stringContaining('has the id "'),
    });
    expect(await client.listTools()).toHaveLength(1);
  });

  test('asks for what nobody declared is refused, each time, and continues', async () => {
    await using client = await connected(fixture('asks-for-anything'));
    expect(JSON.parse(await textOf(client, 'any'))).toEqual({
      early: 'result',
      'sampling/createMessage': -32601,
      'elicitation/create': -32601,
      'roots/list': -32601,
      'tools/list': -32601,
      'no/such': -32601,
      ping: 'result',
    });
  });

  test('has lists without an end cannot hold us', async () => {
    await using client = await connected(fixture('endless-pages'));
    await expect(within('the tools', client.listTools())).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
    expect((await within('the prompts', client.listPrompts())).length).toBeGreaterThan(0);
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('will not leave is ended, with all it has started', async () => {
    const client = await connected(fixture('will-not-leave'));
    const pids = JSON.parse(await textOf(client, 'pids')) as number[];
    expect(pids).toHaveLength(2);
    await within('close', client.close());
    await untilGone(pids);
  });
});

test('a server that is killed under the client can be connected to again', async () => {
  const client = await connected(fixture('will-not-leave'));
  const [pid] = JSON.parse(await textOf(client, 'pids')) as number[];
  process.kill(pid!, 'SIGKILL');
  expect(await within('closed', client.closed)).toContain('SIGKILL');
  await client.close();
  await using again = await connected(fixture('silent-before-initialize'), { probeMs: 300 });
  expect(await textOf(again, 'echo', { text: 'back' })).toBe('back');
});

test('closing while calls are open rejects them and leaves nothing', async () => {
  const client = await connected(fixture('silent-before-initialize'), { probeMs: 300 });
  const open = client.request('no/such').catch((error: unknown) => error);
  await within('close', Promise.all([client.close(), client.close()]));
  expect(await open).toMatchObject({ code: 'UPSTREAM_CLOSED' });
});
