// A gateway before several servers in real processes, one of which is ill: the others do not notice, its tools stay known and
// say that they are unavailable, its calls fail with its last words, and once it is well nothing has to be restarted.
import { afterEach, describe, expect, test } from 'vitest';
import type { Client } from 'mcp-parley';
import { childrenOfThis, fixture, startHttp, textOf } from '../helpers/fixture-server.ts';
import { Moody, markOf, serving, stateOf, toolNames, untilWell, well } from '../helpers/moody.ts';
import { until, within } from '../helpers/until.ts';

const before = new Set(childrenOfThis());

afterEach(() => until('every child process to be gone', () => childrenOfThis().every((pid) => before.has(pid))));

/** In this revision the reason is in the data of the error. */
const TELLS_WHY = { revision: '2025-03-26' };

/** The words of the error that a call fails with. */
async function whyNot(client: Client, tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const outcome = await within(
    `the call of ${tool} to fail`,
    client.callTool(tool, args).then(
      ({ content }) => ({ content }),
      (error: Error & { data?: unknown }) => ({ error: `${error.message} ${JSON.stringify(error.data)}` }),
    ),
  );
  if ('error' in outcome) return outcome.error;
  throw new Error(`${tool} did not fail: ${JSON.stringify(outcome.content).slice(0, 200)}`);
}

/** A gateway before `ill` and two that are well. */
async function threeServers(ill: Moody, startMs = 60_000) {
  const servers = { one: well('one'), ill: ill.address, two: well('two') };
  return serving({ servers, startMs });
}

async function othersAnswer(client: Client): Promise<void> {
  expect(await textOf(client, 'one__one_echo', { text: '1' })).toBe('1');
  expect(await textOf(client, 'two__two_echo', { text: '2' })).toBe('2');
}

describe('a server that is ill', () => {
  test.each(['2025-11-25', '2026-07-28'])('says on its stderr why, and a client of %s learns it', async (revision) => {
    using ill = new Moody('ill');
    await using gateway = await threeServers(ill);
    const client = await gateway.client({ revision });
    expect(await toolNames(client)).toContain('ill__ill_crash');
    expect(await whyNot(client, 'ill__ill_crash')).toContain('out of cheese');
  });

  test.each([
    ['dies in a call', 'ill__ill_crash', ['out of cheese', 'exit code 3']],
    ['ends within an answer', 'ill__ill_half', ['broken pipe', 'exit code 4']],
  ])('and %s fails that call with its last words, and is there for the next', async (_, tool, words) => {
    using ill = new Moody('ill');
    await using gateway = await threeServers(ill);
    const client = await gateway.client(TELLS_WHY);
    const all = await toolNames(client);
    const open = Promise.all([
      textOf(client, 'one__one_echo', { text: 'a' }),
      textOf(client, 'two__two_echo', { text: 'b' }),
    ]);
    const why = await whyNot(client, tool);
    for (const word of words) expect(why).toContain(word);
    expect(await open).toEqual(['a', 'b']);
    await othersAnswer(client);
    await untilWell(client, 'ill__ill_echo');
    expect(await toolNames(client)).toEqual(all);
    expect(await markOf(client, 'ill')).toBeUndefined();
  });

  test('and cannot be started any more keeps its tools listed and marked, and says why until it is well', async () => {
    using ill = new Moody('ill');
    await using gateway = await threeServers(ill);
    const client = await gateway.client(TELLS_WHY);
    const all = await toolNames(client);
    ill.becomes('dies');
    await whyNot(client, 'ill__ill_crash');
    expect(await whyNot(client, 'ill__ill_echo')).toContain('cannot open the database');
    // Also for clients that come only now, whatever they speak.
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const newcomer = await gateway.client({ revision });
      expect(await toolNames(newcomer)).toEqual(all);
      expect(await markOf(newcomer, 'ill')).toContain('cannot open the database');
      expect(await markOf(newcomer, 'one')).toBeUndefined();
      await othersAnswer(newcomer);
    }
    ill.becomes('well');
    await untilWell(client, 'ill__ill_echo');
    const last = await gateway.client();
    expect(await markOf(last, 'ill')).toBeUndefined();
    expect(await textOf(last, 'ill__ill_echo', { text: 'back' })).toBe('back');
  });

  test.each(['dies', 'dies-after-hello'] as const)('and %s every time costs the others nothing', async (mood) => {
    using ill = new Moody('ill', mood);
    await using gateway = await threeServers(ill);
    const client = await gateway.client();
    for (let round = 0; round < 10; round++) {
      expect(await toolNames(client)).toEqual(expect.arrayContaining(['one__one_echo', 'two__two_echo']));
      await othersAnswer(client);
      await whyNot(client, 'ill__ill_echo');
    }
    const told = new Promise((resolve) => client.on('tools', resolve));
    ill.becomes('well');
    await until('its tools to be listed', async () => (await toolNames(client)).includes('ill__ill_echo'));
    await within('the news of its tools', told);
    await untilWell(client, 'ill__ill_echo');
  });

  test('and hangs at its start is not waited for; its tools are told of when it has come', async () => {
    using ill = new Moody('ill', 'hangs');
    const hanging = { server: ill.address, timeoutMs: 3000 };
    await using gateway = await serving({
      servers: { one: well('one'), ill: hanging, two: well('two') },
      startMs: 1000,
    });
    const client = await gateway.client();
    const told = new Promise((resolve) => client.on('tools', resolve));
    await until('the others to be up', async () => (await toolNames(client)).length === 16);
    await othersAnswer(client);
    await until('its failure to be known', () => stateOf(gateway, 'ill') === 'failing');
    expect(await whyNot(client, 'ill__ill_echo')).toContain('did not answer initialize');
    ill.becomes('well');
    await until('its tools to be listed', async () => (await toolNames(client)).includes('ill__ill_echo'));
    await within('the news of its tools', told);
    await untilWell(client, 'ill__ill_echo');
  });

  test.each(['floods', 'garbage'] as const)('and %s, but answers, is used', async (mood) => {
    using ill = new Moody('ill');
    await using gateway = await threeServers(ill);
    const client = await gateway.client();
    expect(await toolNames(client)).toHaveLength(24);
    ill.becomes(mood);
    const texts = await Promise.all(
      ['one__one_echo', 'ill__ill_echo', 'two__two_echo'].map((tool) => textOf(client, tool, { text: tool })),
    );
    expect(texts).toEqual(['one__one_echo', 'ill__ill_echo', 'two__two_echo']);
  });

  test('and breaks off its streams fails those calls alone', async () => {
    await using cutting = await startHttp(fixture('closes-mid-stream'));
    await using gateway = await serving({ servers: { one: well('one'), cutting: cutting.url } });
    const client = await gateway.client();
    expect(await toolNames(client)).toContain('cutting__echo');
    const part = await gateway.client({ part: 'cutting' }); // it lists only `echo`; alone, it is asked for the others as well
    for (const tool of ['end', 'cut', 'half']) {
      await whyNot(part, tool);
      expect(await textOf(client, 'one__one_echo', { text: tool })).toBe(tool);
      expect(await textOf(client, 'cutting__echo', { text: tool })).toBe(tool);
    }
  });
});

test('a server over HTTP that has forgotten its session is initialized again, and the call is repeated', async () => {
  await using forgetful = await startHttp(fixture('forgets-sessions'));
  await using gateway = await serving({ servers: { one: well('one'), forgetful: forgetful.url } });
  const client = await gateway.client();
  expect(await toolNames(client)).toContain('forgetful__echo');
  const part = await gateway.client({ part: 'forgetful' });
  await textOf(part, 'forget');
  expect(await textOf(client, 'forgetful__echo', { text: 'again' })).toBe('again');
  expect(await textOf(part, 'count')).toBe('2');
});

test('a change of a server, or of the servers, reaches clients that listen, and all who list again', async () => {
  await using gateway = await serving({ servers: { one: well('one'), two: well('two') } });
  const listening = await gateway.client();
  const modern = await gateway.client({ revision: '2026-07-28' });
  for (const client of [listening, modern]) expect(await toolNames(client)).not.toContain('two__two_new');
  const told = new Promise((resolve) => listening.on('tools', resolve));
  await textOf(modern, 'two__two_change');
  await within('the news', told);
  for (const client of [listening, modern]) {
    await until('the new tool', async () => (await toolNames(client)).includes('two__two_new'));
  }
});

describe('sizes', () => {
  const MiB = 1024 * 1024;
  const last = (client: Client) => textOf(client, 'one__one_echo', { text: 'still here' });

  test.each(['2025-11-25', '2026-07-28'])('requests of 3 MB and results of 50 MB pass, for %s', async (revision) => {
    await using gateway = await serving({ servers: { one: well('one'), two: well('two') } });
    const client = await gateway.client({ revision });
    expect(await textOf(client, 'one__one_length', { text: 'x'.repeat(3 * MiB) })).toBe(String(3 * MiB));
    expect(await textOf(client, 'two__two_big', { size: 50 * MiB })).toHaveLength(50 * MiB);
    expect(await last(client)).toBe('still here');
  });

  test('what is larger than its limit fails that call alone, on both sides', async () => {
    const limits = { maxRequestBytes: 100_000, maxResultBytes: 200_000 };
    await using gateway = await serving({ servers: { one: well('one'), two: well('two') }, limits });
    const client = await gateway.client();
    const meanwhile = textOf(client, 'two__two_big', { size: 150_000 });
    expect(await whyNot(client, 'two__two_big', { size: 300_000 })).toContain('larger than 200000 bytes');
    expect(await whyNot(client, 'one__one_length', { text: 'x'.repeat(150_000) })).toMatch(/100000 bytes|413/);
    expect(await meanwhile).toHaveLength(150_000);
    expect(await last(client)).toBe('still here');
  });
});
