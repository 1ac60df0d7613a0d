// A time-out means the same however its question was put: the table of docs/flows.md is what happens here, over real sockets, with a clock
// that the test moves.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { ROOT } from '../helpers/files.ts';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { elicits, modern, rpc } from '../helpers/mcp-http.ts';

const clock = manualClock();
const SECOND = 1000;

/** How each question's time ends; after it another one is asked, so that it shows whether the client is still talked to. */
const OUTCOMES = ['default', 'error', 'cancel', 'session'] as const;
type Outcome = (typeof OUTCOMES)[number];

const FLOWS = OUTCOMES.map((name) =>
  flow({ name, limits: { duration: '1h' }, ...(name === 'session' && { timeout: '2s' }) }, async (ask) => {
    const time = name === 'session' ? {} : ({ timeout: '2s', onTimeout: name } as const);
    const question = ask.text('channel', { message: 'Which channel?', alone: true, default: 'slack', ...time });
    const channel = await ask.try(question);
    const said = channel.ok ? channel.value : channel.reason;
    const go = await ask.text('name', { message: 'Who?', alone: true });
    return `${said}, ${go}`;
  }),
);

let server: ParleyServer;
let port: number;

beforeAll(async () => {
  server = createServer({ name: 'times', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, FLOWS, { clock });
  port = Number(new URL((await server.listen({ port: 0 })).url).port);
});
afterAll(() => server.close());

const textOf = ({ result, error }: Answer) =>
  error?.message ?? result?.content?.map(({ text }) => text).join('\n') ?? '';

/** Plays a flow whose first question is never answered in time, and says what the client sees. */
const CHANNELS: Record<string, (name: Outcome) => Promise<string[]>> = {
  'MCP Flow': async (name) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize();
    const { result } = await wire.request('interaction.start', { toolName: name });
    clock.move(3 * SECOND);
    const told = await wire.find(
      'what follows',
      ({ method, params }) => method === 'interaction.ended' || JSON.stringify(params ?? {}).includes('Who?'),
    );
    const seen: string[] = [];
    let last = told;
    if (told.method === 'interaction.prompt') {
      seen.push('is asked the next question');
      await wire.request('interaction.respond', { sessionId: result!.sessionId, response: { value: 'Ada' } });
      last = await wire.find('the end', ({ method }) => method === 'interaction.complete');
    }
    socket.close();
    const { result: end } = last.params as {
      result: { success: boolean; data?: unknown; error?: { message: string } };
    };
    return [...seen, String(end.success ? end.data : end.error?.message)];
  },

  'forms (elicitation)': async (name) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize('2025-11-25', { elicitation: {} });
    const call = rpc('tools/call', { name, arguments: {} });
    wire.write(call);
    const form = await wire.find('the form', ({ method }) => method === 'elicitation/create');
    clock.move(3 * SECOND);
    await wire.find(
      'the withdrawal of the form',
      ({ method, params }) => method === 'notifications/cancelled' && params?.requestId === form.id,
    );
    const seen = ['its form is withdrawn'];
    const isEnd = ({ id, method }: Answer) => id === call.id && method === undefined;
    const next = await wire.find('what follows', (message) => {
      return isEnd(message) || (message.method === 'elicitation/create' && message.id !== form.id);
    });
    if (next.method) {
      seen.push('is asked the next question');
      wire.write({ jsonrpc: '2.0', id: next.id, result: { action: 'accept', content: { name: 'Ada' } } });
    }
    const end = await wire.find('the end', isEnd);
    socket.close();
    return [...seen, textOf(end)];
  },

  'input_required (2026-07-28)': async (name) => {
    const { wire, socket } = await socketWire(port);
    const ask = async (more: Json) => {
      const { body } = modern('tools/call', { name, arguments: {}, ...more }, elicits);
      wire.write(body);
      return wire.answerTo(body.id);
    };
    const first = await ask({});
    const answering = ({ result }: Answer, content: Json) => ({
      requestState: result!.requestState,
      inputResponses: Object.fromEntries(
        Object.keys(result!.inputRequests as Json).map((key) => [key, { action: 'accept', content }]),
      ),
    });
    clock.move(3 * SECOND);
    const next = await ask(answering(first, { channel: 'too late' }));
    if (next.result?.resultType !== 'input_required') {
      socket.close();
      return [textOf(next)];
    }
    expect(JSON.stringify(next.result.inputRequests)).toContain('Who?');
    const end = await ask(answering(next, { name: 'Ada' }));
    socket.close();
    return ['is asked the next question', textOf(end)];
  },

  'words (parley_answer)': async (name) => {
    const { wire, socket } = await socketWire(port);
    await wire.initialize();
    const handleOf = (answer: Answer) => /"handle":"([^"]+)"/.exec(textOf(answer))?.[1] ?? '';
    const answer = (handle: string, given: Json) => wire.call('parley_answer', { handle, answer: given });
    const before = Date.now();
    const asked = await wire.call(name);
    const [, until = ''] = /It waits until (\S+Z)\./.exec(textOf(asked)) ?? [];
    expect(Date.parse(until) - 2 * SECOND).toBeGreaterThanOrEqual(before);
    expect(Date.parse(until) - 2 * SECOND).toBeLessThanOrEqual(Date.now());
    clock.move(3 * SECOND);
    const late = await answer(handleOf(asked), { channel: 'too late' });
    const end = textOf(late).includes('Who?') ? await answer(handleOf(late), { name: 'Ada' }) : undefined;
    socket.close();
    return end ? ['is asked the next question', textOf(end)] : [textOf(late)];
  },
};

/** What the author was given in the place of an answer. */
const WORDS: Record<Outcome, RegExp> = {
  default: /^slack, Ada$/,
  error: /^timeout, Ada$/,
  cancel: /^cancel was cancelled(: A question was not answered in time)?$/,
  session: /^Session expired/,
};
const HEADS = {
  default: "`onTimeout: 'default'`",
  error: "`onTimeout: 'error'`",
  cancel: "`onTimeout: 'cancel'`",
  session: 'the session',
};

test('a time-out means the same in every channel, as the table of docs/flows.md says', async () => {
  const rows: string[] = [];
  for (const [channel, play] of Object.entries(CHANNELS)) {
    const cells: string[] = [];
    for (const outcome of OUTCOMES) {
      const seen = await play(outcome);
      expect(seen.at(-1), `${channel}, ${outcome}`).toMatch(WORDS[outcome]);
      cells.push(toCell(seen.slice(0, -1), outcome));
    }
    rows.push(`| ${[channel, ...cells].join(' | ')} |`);
  }
  const heads = ['asked by', ...OUTCOMES.map((outcome) => HEADS[outcome])];
  const table = [`| ${heads.join(' | ')} |`, `|${' --- |'.repeat(heads.length)}`, ...rows].join('\n');
  const docs = readFileSync(join(ROOT, 'docs', 'flows.md'), 'utf8');
  const [, written = ''] = /<!-- table: time-outs -->\n+(.*?)\n+<!-- end of table -->/s.exec(docs) ?? [];
  expect(written.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')).toBe(table);
});

function toCell(before: string[], outcome: Outcome): string {
  const end = {
    default: 'the default counts',
    error: 'the body is told',
    cancel: 'is told that it was cancelled',
    session: 'is told that it expired',
  };
  return [...before, end[outcome]].join(', ');
}
