// Approvals behind the line that `parley serve` prints for clients on stdio: `parley wrap URL` in front of the gateway.
import { expect, it } from 'vitest';
import { FakeBrowser, csrfOf } from '../../src/people/page/fake-round.contract.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();
const [command, ...args] = DEMO_FIXTURE;

it.each(['2025-11-25', '2026-07-28'])('waits for the person if the client (%s) cannot be asked', async (revision) => {
  const home = newHome();
  const servers = { demo: { command, args, tools: { approve: ['probe_log'] } } };
  const file = home.write('parley.config.json', { mcpServers: servers });
  const gateway = start(home, ['serve', file, '--port', '0', '--log', 'info'], { BROWSER: 'none' });
  const url = await gateway.url();
  const page = url.replace(/\/mcp$/, '/ask');
  const browser = new FakeBrowser();
  const { code } = JSON.parse((await home.run(['pair', '--json'])).stdout) as { code: string };
  await browser.post(page, { do: 'pair', code });
  await using client = await connected(home.address(['wrap', url]), { revision });
  const { _meta, content } = await client.callTool('probe_log');
  expect(JSON.stringify(content)).toContain('A person has been asked');
  const list = (await browser.get(page)).text;
  expect(list).toContain('probe_log');
  const link = new URL(/href="([^"]*ask\?[^"]*)"/.exec(list)![1]!.replaceAll('&amp;', '&'), page).href;
  await browser.post(link, { csrf: csrfOf((await browser.open(link)).text), 'q0.0': 'true' });
  const handle = (_meta as Record<string, string>)['mcp-parley/handle'];
  expect(await textOf(client, 'parley_answer', { handle })).not.toContain('handle');
  expect(gateway.logged('ask.word')).toMatchObject([{ outcome: 'accept' }]);
});
