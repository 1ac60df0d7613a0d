// Draft clients behind a gateway hear of changed tools by the names in their lists, and of no tools that they may not see.
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Step } from 'mcp-parley';
import { filter, prefix } from 'mcp-parley/middleware';
import { fixture } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const { newHome, start } = homesOfTests();
const open: (() => Promise<unknown>)[] = [];
const DRAFT = { mcpVersion: '2025-06-18', clientCapabilities: { supportsProgress: true, supportsCancellation: true } };
const draft = fixture('draft-tools');

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await within('closing', close());
});

async function serving(steps: Step[], servers: Record<string, typeof draft> = { d: draft }): Promise<number> {
  const gateway = createGateway({ servers, steps, log, startMs: 60_000 });
  open.push(() => gateway.close());
  return Number(new URL((await gateway.listen({ port: 0 })).url).port);
}

async function changed(port: number, tool: string, isListed = true) {
  const { wire } = await socketWire(port);
  await wire.request('initialize', DRAFT);
  if (isListed) await wire.request('tools/list');
  await wire.request('tools/invoke', { name: tool, arguments: {} });
  return (await wire.find('the change', ({ method }) => method === 'tools/changed')).params;
}

const ADDED = { name: 'new_tool', description: 'A new feature' };

test.each([
  ['as its server names them', [], { added: [ADDED], removed: ['deprecated_tool'] }, 'change'],
  [
    'as steps name them',
    [prefix('x_')],
    { added: [{ ...ADDED, name: 'x_new_tool' }], removed: ['x_deprecated_tool'] },
    'x_change',
  ],
  [
    'without those that are denied',
    [filter({ deny: ['new_*'] })],
    { added: [], removed: ['deprecated_tool'] },
    'change',
  ],
  [
    'without those that a step of its own hides',
    [
      {
        name: 'hide',
        methods: ['tools/list'],
        async handle(_exchange, next) {
          const outcome = await next();
          const tools = outcome.result.tools as { name: string }[];
          outcome.result = { ...outcome.result, tools: tools.filter(({ name }) => name === 'change') };
          return outcome;
        },
      } satisfies Step,
    ],
    { added: [], removed: [] },
    'change',
  ],
])('tells of tools %s', async (_how, steps, expected, tool) => {
  expect(await changed(await serving(steps), tool)).toEqual(expected);
});

test('a client that has listed nothing is told the same', async () => {
  const port = await serving([filter({ deny: ['deprecated_*'] })]);
  expect(await changed(port, 'change', false)).toEqual({ added: [ADDED], removed: [] });
});

test('of several servers, names say whose they are', async () => {
  const port = await serving([], { d: draft, e: draft });
  const expected = { added: [{ ...ADDED, name: 'd__new_tool' }], removed: ['d__deprecated_tool'] };
  expect(await changed(port, 'd__change')).toEqual(expected);
});

test('what a server of MCP has added is found by comparing lists', async () => {
  const port = await serving([], { d: fixture('announces-tools') });
  expect(await changed(port, 'change')).toEqual({ added: [ADDED], removed: ['deprecated_tool'] });
});

test('a tool that pins hold back is not announced by parley wrap', async () => {
  const home = newHome();
  const { command, args = [] } = draft;
  const wrap = start(home, ['wrap', '--port', '0', '--open', '--', command, ...args]);
  const port = Number(new URL(await wrap.url()).port);
  expect(await changed(port, 'change')).toEqual({ added: [], removed: ['deprecated_tool'] });
});

test('a client of MCP hears of changed tools from a server that declares only "tools": {}', async () => {
  const { wire } = await socketWire(await serving([], { d: fixture('announces-tools') }));
  await wire.initialize();
  await wire.call('change');
  await wire.find('the change', ({ method }) => method === 'notifications/tools/list_changed');
});

test('a client of MCP is told that it may subscribe at a draft server, which tells everybody', async () => {
  const { wire } = await socketWire(await serving([]));
  const { result } = await wire.initialize();
  expect(result).toMatchObject({ capabilities: { resources: { subscribe: true } } });
});
