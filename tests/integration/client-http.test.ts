// Our client and servers on HTTP that misbehave: errors say what happened and carry what the server said about trying again;
// nothing hangs, and nothing secret is told.
import { describe, expect, test } from 'vitest';
import { connected, fixture, refusal, startHttp, textOf } from '../helpers/fixture-server.ts';
import { within } from '../helpers/until.ts';

describe('connecting', () => {
  test('nobody there is told with the address, without its query and credentials', async () => {
    await using server = await startHttp(fixture('needs-login'));
    await server.stop();
    const error = await refusal(`http://me:hunter2@127.0.0.1:${server.port}/mcp?key=hunter2`);
    expect(error).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') });
    expect(error.message).toContain(`http://127.0.0.1:${server.port}/mcp`);
    expect(error.message).not.toContain('hunter2');
  });

  test('a server that wants a login says so, and its page is not shown', async () => {
    await using server = await startHttp(fixture('needs-login'));
    const error = await refusal({ url: server.url, headers: { authorization: 'Bearer hunter2' } });
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAUTHORIZED', message: expect.stringContaining('HTTP 401') });
    expect(error.message).not.toMatch(/hunter2|secret page/);
  });

  test('a server that is starting is waited for', async () => {
    await using server = await startHttp(fixture('starts-late'));
    await using client = await connected(server.url);
    expect(await textOf(client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('a URL behind which there is no MCP at all is told by its status', async () => {
    await using server = await startHttp(fixture('is-a-website'));
    const error = await refusal(server.url);
    expect(error).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', message: `Cannot reach ${server.url}: HTTP 404` });
  });
});

describe('a server that is too busy', () => {
  test.each([
    ['header', 'UPSTREAM_BUSY', 2000],
    ['body', 'UPSTREAM_BUSY', 1500],
    ['error', -32000, 1500],
  ])('and says so by its %s tells when to come back', async (name, code, retryAfterMs) => {
    await using server = await startHttp(fixture('limits-rate'));
    await using client = await connected(server.url);
    await expect(client.callTool(name)).rejects.toMatchObject({ code, retryAfterMs });
    expect(await client.listTools()).toHaveLength(1);
  });
});

describe('a session that the server forgets', () => {
  test.each(['404', '400'])('by %s is opened again, once for all calls', async (status) => {
    await using server = await startHttp(fixture('forgets-sessions', [], { env: { FORGOTTEN_STATUS: status } }));
    await using client = await connected(server.url);
    await client.callTool('forget');
    const texts = await Promise.all(Array.from({ length: 5 }, (_, n) => textOf(client, 'echo', { text: `call ${n}` })));
    expect(texts).toEqual(['call 0', 'call 1', 'call 2', 'call 3', 'call 4']);
    expect(await textOf(client, 'count')).toBe('2');
  });

  test('with the whole server, which comes back on the same port, is opened again', async () => {
    const first = await startHttp(fixture('any-revision', ['2025-11-25']));
    await using client = await connected(first.url);
    expect(await textOf(client, 'echo', { text: 'before' })).toBe('before');
    await first.stop();
    await expect(within('the call', client.callTool('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    await using second = await startHttp(fixture('any-revision', ['2025-11-25', String(first.port)]));
    expect(second.url).toBe(first.url);
    expect(await textOf(client, 'echo', { text: 'after' })).toBe('after');
  });

  test('does not exist in the newest era: a server that comes back is simply called', async () => {
    const first = await startHttp(fixture('any-revision', ['2026-07-28']));
    await using client = await connected(first.url);
    client.on('tools', () => {});
    expect(await textOf(client, 'echo', { text: 'before' })).toBe('before');
    await first.stop();
    await using second = await startHttp(fixture('any-revision', ['2026-07-28', String(first.port)]));
    expect(await textOf(client, 'echo', { text: 'after' })).toBe('after');
    expect(second.port).toBe(first.port);
  });
});

describe('a stream that breaks off', () => {
  test.each(['end', 'cut', 'half'])('by %s fails its call, and no other', async (how) => {
    await using server = await startHttp(fixture('closes-mid-stream'));
    await using client = await connected(server.url);
    const broken = client.callTool(how);
    const other = textOf(client, 'echo', { text: 'whole' });
    await expect(within('the broken call', broken)).rejects.toMatchObject({
      code: 'UPSTREAM_CLOSED',
      message: expect.stringContaining('The answer was lost'),
    });
    expect(await other).toBe('whole');
  });
});
