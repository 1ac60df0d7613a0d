// `parley wrap --step FILE`: a step of one's own before any server, in one line.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connected, fixture, textOf } from '../helpers/fixture-server.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const server = fixture('flow-tools', ['--stdio']);

const RENAME = `export default async function shout(exchange, next) {
  const outcome = await next();
  if (exchange.method !== 'tools/list') return outcome;
  const tools = outcome.result.tools.map((tool) => ({ ...tool, description: tool.description?.toUpperCase() }));
  outcome.result = { ...outcome.result, tools };
  return outcome;
}
`;
const GUARD = (tool: string) => `import { GatewayError, type StepFunction } from 'mcp-parley';
const guard: StepFunction = (exchange, next) => {
  if (exchange.method === 'tools/call' && exchange.params.name === '${tool}') {
    throw new GatewayError('TOOL_NOT_FOUND', { name: exchange.params.name });
  }
  return next();
};
export default guard;
`;

function setUp() {
  const home = newHome();
  home.write('shout.mjs', RENAME);
  home.write('guard.ts', GUARD('plain'));
  const behind = ['--', server.command, ...(server.args ?? [])];
  return { home, behind };
}

test('loads several steps, outermost first, from files named on the command line, and asks nobody to trust them', async () => {
  const { home, behind } = setUp();
  const args = ['wrap', '--step', './shout.mjs', '--step', './guard.ts', ...behind];
  const { env, ...command } = home.address(args);
  const client = await connected({ ...command, env: { ...env, PARLEY_TRUST: '' } });
  const tools = await client.listTools();
  expect(tools.map(({ description }) => description)).toContain('BOOK A TRIP');
  await expect(client.callTool('plain', {})).rejects.toThrow('plain');
  await client.close();
});

test('loads a step again when its file changes', async () => {
  const { home, behind } = setUp();
  const wrap = start(home, ['wrap', '--port', '0', '--open', '--step', 'guard.ts', ...behind]);
  const client = await connected(await wrap.url());
  await expect(client.callTool('plain', {})).rejects.toThrow('plain');
  writeFileSync(join(home.path, 'guard.ts'), GUARD('book'));
  const text = await until('the new step', () => textOf(client, 'plain', {}).catch(() => undefined));
  expect(text).toBe('nothing to ask');
  await client.close();
});

test('a guard in it judges sessions of MCP Flow, too', async () => {
  const { home, behind } = setUp();
  home.write('guard.ts', GUARD('greet'));
  const wrap = start(home, ['wrap', '--port', '0', '--open', '--step', 'guard.ts', ...behind]);
  const client = await connected(await wrap.url(), { revision: '2025-11-25' });
  await expect(client.request('interaction.start', { toolName: 'greet' })).rejects.toThrow('greet');
  expect(await client.request('interaction.start', { toolName: 'book' })).toMatchObject({ state: 'idle' });
  await client.close();
});

test('says which file cannot be loaded', async () => {
  const { home, behind } = setUp();
  const { status, stderr } = await home.run(['wrap', '--step', './missing.ts', ...behind]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^parley: --step .*missing\.ts: there is no such file\. .*\n$/);
});
