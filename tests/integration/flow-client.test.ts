// The client's side of MCP Flow, with a server that does what servers do: is busy, dies, forgets, says nothing, is not interactive.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createLog } from 'mcp-parley';
import { CANCEL, connectFlows } from 'mcp-parley/flow';
import type { FlowClientOptions, PlayOptions } from 'mcp-parley/flow';
import { fixture } from '../helpers/fixture-server.ts';
import { Home } from '../helpers/parley.ts';
import { within } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });
const home = new Home();
afterAll(() => home[Symbol.dispose]());
let runs = 0;

async function play(
  server: object,
  onPrompt: PlayOptions['onPrompt'],
  { args = {}, ...options }: FlowClientOptions & { args?: Record<string, unknown> } = {},
) {
  const log = join(home.write(`seen-${++runs}.txt`, ''));
  const address = fixture('flow-by-hand', [JSON.stringify({ ...server, log })]);
  await using client = await connectFlows(address, { log: QUIET, revision: '2025-06-18', backoffMs: 40, ...options });
  const feedback: string[] = [];
  const outcome = await within(
    'the tool',
    client
      .run('tool', args, { onPrompt, onFeedback: (text) => void feedback.push(text) })
      .catch((error: Error) => error),
  );
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const times = (method: string) =>
    lines.filter((line) => line.startsWith(`${method} `)).map((line) => Number(line.split(' ')[1]));
  const startIds = lines.flatMap((line) => (line.startsWith('interaction.start ') ? line.split(' ')[2]! : []));
  return { outcome, feedback, times, startIds };
}

describe('a server that', () => {
  test('is busy is tried again after pauses that grow, and the user is told', async () => {
    const { outcome, times, feedback } = await play({ busy: 3 }, () => 'Ada');
    expect(outcome).toMatchObject({ success: true, result: { hello: 'Ada' } });
    const at = times('interaction.start');
    expect(at).toHaveLength(4);
    const pauses = at.slice(1).map((time, index) => time - at[index]!);
    for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(40 * 2 ** index - 2);
    expect(feedback).toHaveLength(3);
  });

  test('stays busy is given up, and the user learns of it', async () => {
    const { outcome, times, feedback } = await play({ busy: 99 }, () => 'Ada', { attempts: 3 });
    expect(outcome).toMatchObject({ code: -32000 });
    expect(times('interaction.start')).toHaveLength(3);
    expect(feedback.at(-1)).toBe('Rate limit exceeded');
  });

  test('dies is started again, after pauses', async () => {
    const { outcome, times } = await play({ deaths: 2 }, () => 'Ada');
    expect(outcome).toMatchObject({ success: true, result: { hello: 'Ada' } });
    expect(times('interaction.start')).toHaveLength(3);
    expect(times('initialize')).toHaveLength(3);
  });

  test('says after a restart that it stopped meanwhile is asked again, where that does no harm', async () => {
    const args = { city: 'Oslo' };
    const { outcome, startIds } = await play({ stops: 2, startIds: true }, () => 'Ada', { args });
    expect(outcome).toMatchObject({ success: true, result: { hello: 'Ada' } });
    expect([startIds.length, new Set(startIds).size]).toEqual([3, 1]);
    const { outcome: failed, startIds: once } = await play({ stops: 2 }, () => 'Ada', { args });
    expect([failed, once.length]).toEqual([expect.objectContaining({ code: -32603 }), 1]);
  });

  test('dies in a start with arguments is asked again with the same start-id, where it knows such ids', async () => {
    const args = { city: 'Oslo' };
    const { outcome, startIds } = await play({ deaths: 2, startIds: true }, () => 'Ada', { args });
    expect(outcome).toMatchObject({ success: true });
    expect(startIds).toHaveLength(3);
    expect(new Set(startIds).size).toBe(1);
    expect(startIds[0]!.length).toBeGreaterThanOrEqual(16);
    const { outcome: failed, startIds: once } = await play({ deaths: 2 }, () => 'Ada', { args });
    expect(failed).toBeInstanceOf(Error);
    expect(once).toHaveLength(1);
  });

  test('dies before it has said what it can do is asked again', async () => {
    const { outcome, times } = await play({ earlyDeaths: 2 }, () => 'Ada');
    expect(outcome).toMatchObject({ success: true, interactive: true });
    expect(times('capabilities')).toHaveLength(3);
  });

  test('has let the session expire is started again, and the user is told', async () => {
    const { outcome, times, feedback } = await play({ expires: 2 }, () => 'Ada');
    expect(outcome).toMatchObject({ success: true, result: { hello: 'Ada' } });
    expect(times('interaction.start')).toHaveLength(3);
    expect(feedback).toEqual(Array(2).fill('The session has expired; it starts over.'));
  });

  test('lets every session expire is given up', async () => {
    const { outcome, times } = await play({ expires: 99 }, () => 'Ada');
    expect(outcome).toMatchObject({ code: -32002 });
    expect(times('interaction.start')).toHaveLength(4);
  });

  test('says nothing is asked where the session stands', async () => {
    const asked: string[] = [];
    const { outcome } = await play({ mute: true }, ({ message }) => {
      asked.push(message);
      return 'Ada';
    });
    expect(asked).toEqual(['Name?', 'Again?']);
    expect(outcome).toMatchObject({ success: true, interactive: true });
  }, 60_000);
});

test('what breaks the rules of its prompt is asked again, and not even sent', async () => {
  const given = ['', 'A', 'Ada'];
  const problems: unknown[] = [];
  const { outcome, times, feedback } = await play({}, (_, { problem }) => {
    problems.push(problem?.error);
    return given.shift();
  });
  expect(outcome).toMatchObject({ success: true, result: { hello: 'Ada' } });
  expect(times('interaction.respond')).toHaveLength(1);
  expect(problems).toEqual([undefined, expect.stringContaining('required'), expect.stringContaining('at least 2')]);
  expect(feedback).toHaveLength(2);
});

describe.each<[string, object]>([
  ['says that it is not interactive', { interactive: false }],
  ['knows no capabilities', { interactive: 'unknown' }],
  ['has a tool that is not interactive', { flowTool: false }],
])('a server that %s', (_, server) => {
  const values: Record<string, unknown> = { 'Your name': 'Ada', size: 2, colour: 'red', sure: true, day: '2026-11-15' };

  test('is called with everything that the tool needs, asked for first', async () => {
    const asked: object[] = [];
    const { outcome, times } = await play(server, (prompt, { progress }) => {
      asked.push({ type: prompt.type, message: prompt.message, at: progress?.current });
      return values[prompt.message];
    });
    expect(asked).toEqual([
      { type: 'text', message: 'Your name', at: 1 },
      { type: 'number', message: 'size', at: 2 },
      { type: 'choice', message: 'colour', at: 3 },
      { type: 'confirm', message: 'sure', at: 4 },
      { type: 'date', message: 'day', at: 5 },
    ]);
    const text = JSON.stringify({ name: 'Ada', size: 2, colour: 'red', sure: true, day: '2026-11-15' });
    expect(outcome).toEqual({ result: [{ type: 'text', text }], success: true, interactive: false });
    expect(times('tools/call')).toHaveLength(1);
    expect(times('interaction.respond')).toEqual([]);
  });

  test('is not called when the user does not want to', async () => {
    const { outcome, times } = await play(server, () => CANCEL);
    expect(outcome).toMatchObject({ success: false, cancelled: true, interactive: false });
    expect(times('tools/call')).toEqual([]);
  });
});
