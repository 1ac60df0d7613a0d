// An answer counts only to a question that was put, once, in time, from the one who was asked: every channel, every attack. What came of it is
// the table in docs/evidence/attacks.md; `UPDATE_DOCS=1 npx vitest run --project integration early-answers` renews it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS, wordsFor } from '../helpers/early-answers/cell.ts';
import type { Attack, Channel } from '../helpers/early-answers/cell.ts';
import { FORMS, forms, links, tasksBySession } from '../helpers/early-answers/forms.ts';
import { guard, startGuard } from '../helpers/early-answers/guard.ts';
import { command, page, words } from '../helpers/early-answers/people.ts';
import { responses, sessions, tasks } from '../helpers/early-answers/stateless.ts';
import { hasBlock, renewBlock } from '../peers/harness/page-block.mjs';

const CHANNELS: Record<string, Channel> = {
  'form, Streamable HTTP': forms(
    (who) => guard.http(who, FORMS),
    () => guard.http('bob', FORMS),
  ),
  'form, WebSocket': forms(
    (who) => guard.webSocket(who, FORMS),
    () => guard.webSocket('bob', FORMS),
  ),
  'form, HTTP+SSE': forms(
    (who) => guard.sse(who, FORMS),
    () => guard.sse('bob', FORMS),
  ),
  'form, task of 2025-11-25': tasksBySession,
  'form, stdio': forms(() => Promise.resolve(guard.stdio)),
  'form, control socket': forms(
    () => guard.control(guard.ownOpening, FORMS),
    () => guard.control('mcp', FORMS),
  ),
  '`parley call`': command,
  'link that the client opens': links,
  '`inputResponses`': responses,
  '`tasks/update`': tasks,
  '`interaction.respond`': sessions,
  'the page': page,
  'the model’s words (`parley_answer`)': words,
};

beforeAll(() => startGuard(FORMS));
afterEach(() => guard.settle());
afterAll(async () => guard?.[Symbol.asyncDispose]());

const told = new Map<string, Set<string>>();
const note = (channel: string, column: string, word: string): void => {
  const key = `${channel} ${column}`;
  told.set(key, (told.get(key) ?? new Set()).add(word));
};

describe.each(Object.entries(CHANNELS))('%s', (name, { tools, honest, attacks }) => {
  it.runIf(honest).each(tools)('%s is done if it is allowed as it should be', async (tool) => {
    const [mark, said] = await honest!(tool);
    expect([guard.deeds(mark), JSON.stringify(said)]).toEqual([1, expect.stringContaining(`${tool} done`)]);
    note(name, 'honest', 'works');
  });

  const cells = tools.flatMap((tool) => Object.keys(attacks).map((attack) => ({ tool, attack: attack as Attack })));
  it.each(cells)('$tool: an answer $attack', async ({ tool, attack }) => {
    const { never, once = [], told: said } = await attacks[attack]!(tool);
    expect(never.map((mark) => guard.deeds(mark))).toEqual(never.map(() => 0));
    expect(once.map((mark) => guard.deeds(mark))).toEqual(once.map(() => 1));
    for (const one of said) note(name, attack, wordsFor(one));
  });
});

it('is the table in the manual', () => {
  const columns = { ...ATTACKS, honest: 'as it should be' };
  const cellOf = (name: string, column: string): string => [...(told.get(`${name} ${column}`) ?? ['–'])].join('; ');
  const rows = Object.keys(CHANNELS).map((name) => [
    name,
    ...Object.keys(columns).map((column) => cellOf(name, column)),
  ]);
  const lines = [
    ['an answer by', ...Object.values(columns)],
    ['---', ...Object.keys(columns).map(() => '---')],
    ...rows,
  ];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  if (process.env['UPDATE_DOCS'] === '1') renewBlock('evidence/attacks.md', 'early-answers', table);
  expect(hasBlock('evidence/attacks.md', 'early-answers', table), table).toBe(true);
});
