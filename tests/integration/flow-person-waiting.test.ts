// A call that waits for somebody else says so: by progress where its client wants it, in the state of its task, and in words to a model whose
// client cannot be asked.
import { afterEach, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { Ask, PersonNotice } from 'mcp-parley/flow';
import { connected } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { until, within } from '../helpers/until.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const approved = async (ask: Ask) => {
  const lead = ask.person('ops-lead');
  const [ok, signed] = await Promise.all([lead.confirm('approve'), ask.person('cto').confirm('sign')]);
  return `${ok} ${signed}`;
};
const release = flow({ name: 'release', limits: { duration: '2d' } }, approved);
const task = flow({ name: 'task', long: true, limits: { duration: '2d' } }, approved);

async function office(limits = {}) {
  const notices: PersonNotice[] = [];
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  const log = createLog({ level: 'silent' });
  const server = createServer({ name: 'ops', version: '1', log, identify, limits, taskGraceMs: 10 });
  const sessions = serveFlows(server, [release, task], { notify: (notice) => void notices.push(notice) });
  const { url } = await server.listen({ port: 0 });
  closing.push(() => server.close());
  const answer = async (person: string, value: unknown) => {
    const { sessionId, promptId } = await until('a notice', () => notices.find((one) => one.person === person));
    return sessions.answer({ principal: person, sessionId, answers: [{ promptId, value }] });
  };
  return { url, port: Number(new URL(url).port), sessions, answer, notices };
}

describe('a call that waits for another person', () => {
  test.each(['2025-06-18', '2025-11-25', '2026-07-28'])('says for whom by progress: %s', async (revision) => {
    const { url, answer } = await office();
    await using client = await connected(url, { revision, onElicit: () => ({ action: 'cancel' }) });
    const told: [number, string | undefined][] = [];
    const onProgress = ({ progress, message }: { progress: number; message?: string | undefined }) =>
      void told.push([progress, message]);
    const called = client.callTool('release', {}, { onProgress });
    await until('the line', () => told.length > 0);
    expect(told[0]![1]).toBe('Waiting for ops-lead and cto');
    await answer('ops-lead', true);
    await until('the next line', () => told.some(([, message]) => message === 'Waiting for cto'));
    await answer('cto', false);
    expect((await within('the result', called)).content).toMatchObject([{ text: 'true false' }]);
    const numbers = told.map(([progress]) => progress);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  test.each(['2025-11-25', '2026-07-28'])('says for whom in the state of its task: %s', async (revision) => {
    const { url, answer } = await office();
    await using client = await connected(url, { revision, onElicit: () => ({ action: 'cancel' }) });
    const states: (string | undefined)[] = [];
    const onTask = ({ statusMessage }: { statusMessage?: string }) => void states.push(statusMessage);
    const called = client.callTool('task', {}, { task: true, onTask });
    await until('the state', () => states.includes('Waiting for ops-lead and cto'));
    await answer('ops-lead', true);
    await answer('cto', true);
    expect((await within('the result', called)).content).toMatchObject([{ text: 'true true' }]);
  });

  test('is answered in words where its client cannot be asked, and goes on by parley_answer', async () => {
    const { port, answer, notices } = await office({ pollMs: 50 });
    const { wire, socket } = await socketWire(port, { 'x-user': 'ada' });
    closing.push(() => socket.close());
    await wire.initialize('2025-06-18');
    const first = (await wire.call('release')).result!;
    const { text } = first.content![0]!;
    expect(text).toContain('has not finished: “Waiting for ops-lead and cto”');
    const handle = /"handle":"(ask_[\w-]+)"/.exec(text)![1]!;
    expect(text).not.toContain(notices[0]!.link!);
    const look = async (args: object = {}) =>
      (await wire.call('parley_answer', { handle, ...args })).result!.content![0]!.text;
    expect(await look()).toContain('Waiting for ops-lead and cto');
    expect(await look({ answer: { approve: true } })).toContain('There is nothing to answer here');
    await answer('ops-lead', true);
    const next = await until('the next words', async () => {
      const said = await look();
      return said.includes('“Waiting for cto”') ? said : undefined;
    });
    await answer('cto', true);
    const last = /"handle":"(ask_[\w-]+)"/.exec(next)![1]!;
    expect((await wire.call('parley_answer', { handle: last })).result!.content![0]!.text).toBe('true true');
  });

  test('that its client has left is found again by the next call, and no person is asked twice', async () => {
    const { port, url, answer, notices } = await office();
    const { wire, socket } = await socketWire(port, { 'x-user': 'ada' });
    await wire.initialize('2025-06-18', { elicitation: {} });
    wire.call('release').catch(() => {});
    await until('both notices', () => notices.length === 2);
    socket.terminate();
    const offers: string[] = [];
    await using client = await connected(
      { url, headers: { 'x-user': 'ada' } },
      {
        revision: '2025-11-25',
        onElicit: ({ message }) => {
          offers.push(message);
          return { action: 'accept', content: { resume: true } };
        },
      },
    );
    const called = client.callTool('release', {});
    await until('the offer', () => offers.length === 1);
    expect(offers[0]).toContain('Waiting for ops-lead and cto.');
    await answer('ops-lead', true);
    await answer('cto', true);
    expect((await within('the result', called)).content).toMatchObject([{ text: 'true true' }]);
    expect(notices).toHaveLength(2);
  });
});
