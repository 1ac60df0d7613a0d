// `parley open` as a process: a link to the console of the running gateway, on a port and on stdio.
import { expect, it } from 'vitest';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();
const [command, ...args] = DEMO_FIXTURE;
const ENV = { BROWSER: 'none' };

/** Who is let in by the link, as the console says. */
async function visit(link: string): Promise<unknown> {
  const { origin, hash } = new URL(link);
  const body = new URLSearchParams({ code: hash.replace('#code=', '') });
  const headers = { origin, 'sec-fetch-site': 'same-origin' };
  const entered = await fetch(`${origin}/console/enter`, { method: 'POST', body, headers });
  if (!entered.ok) return entered.status;
  const { key } = (await entered.json()) as { key: string };
  const cookie = entered.headers.getSetCookie()[0]!.split(';')[0]!;
  return (await fetch(`${origin}/console/api/${key}/now`, { headers: { cookie } })).json();
}

it('the link of `parley open` lets one browser into the console of the gateway, once', async () => {
  const home = newHome();
  const file = home.write('mcp.json', { mcpServers: { demo: { command, args } } });
  const gateway = start(home, ['serve', file, '--port', '0'], ENV);
  const url = await gateway.url();
  const opened = await home.run(['open', '--print'], '', ENV);
  expect(opened.status).toBe(0);
  const link = opened.stdout.trim();
  expect(link.split('#')[0]).toBe(url.replace(/mcp$/, ''));
  expect(await visit(link)).toMatchObject({ viewer: { isOperator: true }, servers: [{ name: 'demo' }] });
  expect(await visit(link)).toBe(403);
});

it('`parley open` says why where there is no gateway, or no console', async () => {
  const home = newHome();
  expect(await home.run(['open'], '', ENV)).toMatchObject({ status: 1 });
  const file = home.write('mcp.json', { mcpServers: { demo: { command, args } }, console: false });
  const gateway = start(home, ['serve', file, '--port', '0'], ENV);
  const page = await fetch((await gateway.url()).replace(/mcp$/, ''), { headers: { accept: 'text/html' } });
  expect(page.status).toBe(401);
  const refused = await home.run(['open'], '', ENV);
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.stderr).toContain('has no console');
});
