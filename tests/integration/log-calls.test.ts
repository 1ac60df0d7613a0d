// The lines of `serve --log-calls` for calls that do not simply run: refused, denied, and held until a person answers.
import { expect, it } from 'vitest';
import { connected } from '../helpers/fixture-server.ts';
import { DEMO_FIXTURE, homesOfTests, WEATHER } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const [command, ...args] = DEMO_FIXTURE;
const DEMO = { command, args };

it('the line of a call that rules refuse or hold names its server', async () => {
  const home = newHome();
  const demo = { ...DEMO, tools: { deny: ['probe_log'], approve: ['probe_fail'] } };
  const file = home.write('mcp.json', { mcpServers: { weather: WEATHER, demo }, ask: { trust: 'all' } });
  const gateway = start(home, ['serve', file, '--port', '0', '--open', '--log-calls']);
  await using client = await connected(await gateway.url());
  await client.listTools();
  await client.callTool('demo__probe_log').catch(() => {});
  await client.callTool('demo__probe_fail'); // the client cannot be asked: its user is, and it is told how
  const lines = await until('two lines', () => {
    const found = gateway.logged('call');
    return found.length >= 2 && found;
  });
  expect(lines).toMatchObject([
    { server: 'demo', tool: 'demo__probe_log', outcome: 'error: TOOL_NOT_FOUND' },
    { server: 'demo', tool: 'demo__probe_fail', outcome: 'waits for an answer' },
  ]);
});

it.each(['2025-11-25', '2026-07-28'])(
  'a call that waits for a person has a line before it ends (%s)',
  async (revision) => {
    const home = newHome();
    const demo = { ...DEMO, tools: { approve: ['probe_log'] } };
    const file = home.write('mcp.json', { mcpServers: { weather: WEATHER, demo }, ask: { trust: 'all' } });
    const gateway = start(home, ['serve', file, '--port', '0', '--open', '--log-calls']);
    const before: unknown[] = [];
    const onElicit = async () => {
      await until('a line', () => gateway.logged('call').length > 0);
      before.push(...gateway.logged('call'));
      return { action: 'accept' as const, content: { approve: true } };
    };
    await using client = await connected(await gateway.url(), { revision, onElicit });
    await client.callTool('demo__probe_log');
    expect(before).toMatchObject([{ server: 'demo', tool: 'demo__probe_log', outcome: 'waits for an answer' }]);
    const lines = await until('the second line', () => gateway.logged('call').length > 1 && gateway.logged('call'));
    expect(lines).toMatchObject([{}, { server: 'demo', tool: 'demo__probe_log', outcome: 'ok' }]);
  },
);
