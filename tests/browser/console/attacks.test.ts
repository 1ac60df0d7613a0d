// What a hostile server, client, page or program of another port can do to the console: nothing. In a real Chromium.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createServer } from '../../../src/_entries/index.ts';
import { approve } from '../../../src/_entries/middleware.ts';
import { connected } from '../../helpers/fixture-server.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import type { Tab } from '../chromium.ts';
import { enter, log, startGateway } from './console-gateway.ts';
import type { ConsoleGateway } from './console-gateway.ts';

const WIDE = { width: 1180, height: 860 };
const { open, closing } = browserOfTests();

const SCRIPT = '<script>document.title="owned"</script>';
const HOSTILE = [
  SCRIPT,
  '<img src=x onerror="document.title=\'owned\'">',
  '[click me](javascript:document.title="owned") ![](https://evil.example/leak.png)',
  '"><svg onload=document.title="owned">',
  'safe\u202Egnp.exe\u2066\u0007\u200B',
  '\u001b]52;c;ZXZpbA==\u0007',
  '{{constructor.constructor("document.title=\'owned\'")()}}',
].join(' ');

async function hostile(more: object = {}): Promise<{ served: ConsoleGateway; tab: Tab }> {
  const evil = createServer({ name: `evil ${HOSTILE}`, version: SCRIPT, log });
  evil.tool('run', { description: HOSTILE, annotations: { readOnlyHint: true } }, () => ({
    content: [{ type: 'text', text: HOSTILE }],
    structuredContent: { [HOSTILE]: HOSTILE },
  }));
  evil.tool('wipe', { description: HOSTILE, annotations: { destructiveHint: true } }, () => HOSTILE);
  const listening = await evil.listen({ port: 0 });
  closing.push(() => listening.close());
  const served = await startGateway(closing, { servers: { evil: listening.url }, steps: [approve()], ...more });
  const tab = await open({ viewport: WIDE });
  await enter(served, tab);
  return { served, tab };
}

/** What was run or loaded that is not ours. */
async function harm({ page, complaints, requests }: Tab, root: string): Promise<string[]> {
  const odd = await page.locator('main img, main svg[onload], main script, main a[href^="javascript"]').count();
  const elsewhere = requests.filter((url) => !url.startsWith(root) && !url.startsWith('data:'));
  const title = (await page.title()).includes('owned') ? ['the title is another'] : [];
  return [...complaints, ...elsewhere, ...title, ...(odd === 0 ? [] : [`${odd} foreign elements`])];
}

describe.skipIf(chromiumPath === undefined)('a hostile peer', () => {
  it('a server and a client with markup, markdown and hidden characters are shown as text', async () => {
    const { served, tab } = await hostile();
    const { page } = tab;
    const client = await connected(served.url, { name: HOSTILE });
    closing.push(() => client.close());
    await client.callTool('run', { note: HOSTILE });
    await client.callTool('wipe', { note: HOSTILE });
    const question = page.getByRole('article');
    await question.getByText(SCRIPT).first().waitFor();
    await question.getByText('safe\\u{202e}gnp.exe').first().waitFor();
    expect(await violations(tab)).toEqual([]);
    expect(await page.content()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.getByRole('link', { name: 'run', exact: true }).click();
    const ours = page.getByRole('region', { name: 'Between the client and the gateway' });
    await ours.getByText('document.title').first().waitFor();
    expect(await page.content()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await violations(tab)).toEqual([]);
    expect(await harm(tab, served.root)).toEqual([]);
  });

  it('no page of the console runs or hides what a server, a client or a setting says', async () => {
    const setting = { key: HOSTILE, value: JSON.stringify(HOSTILE), from: 'file', place: HOSTILE, variables: [SCRIPT] };
    const settings = async () => ({ file: HOSTILE, settings: [setting], pending: [SCRIPT] });
    const rules = [{ tool: HOSTILE, effect: 'ask' }];
    const { served, tab } = await hostile({ settings, rules });
    const { page } = tab;
    const client = await connected(served.url, { name: HOSTILE });
    closing.push(() => client.close());
    await client.callTool('run', { note: HOSTILE });
    const links = page.getByRole('navigation').getByRole('link');
    const pages = await links.allTextContents();
    expect(pages.length).toBeGreaterThan(4);
    for (const [index, name] of pages.entries()) {
      await links.nth(index).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      const asked = page.getByRole('button', { name: 'Judge' });
      if (await asked.count()) {
        await page.getByLabel('Caller').fill(HOSTILE.slice(0, 100));
        await page.getByLabel('Tool').fill(HOSTILE.slice(0, 100));
        await asked.click();
        await page.getByText('Nobody of this name').waitFor();
      }
      for (const summary of await page.locator('main summary').all()) await summary.click();
      const shown = (await page.locator('main').textContent()) ?? '';
      const hidden = ['\u0007', '\u001b', '\u200b'].some((one) => shown.includes(one));
      expect([name, hidden || /[\u202a-\u202e\u2066-\u2069]/.test(shown)]).toEqual([name, false]);
      expect([name, await harm(tab, served.root)]).toEqual([name, []]);
      expect([name, await violations(tab)]).toEqual([name, []]);
    }
  });

  it('the policy lets no inline script run, and no text becomes HTML', async () => {
    const { served, tab } = await hostile();
    const { page } = tab;
    const tried = await page.evaluate(`(() => {
      const found = [];
      try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); found.push('html'); } catch {}
      try { const s = document.createElement('script'); s.text = '1'; found.push('script'); } catch {}
      try { trustedTypes.createPolicy('p', { createHTML: (s) => s }); found.push('policy'); } catch {}
      return found;
    })()`);
    expect(tried).toEqual([]);
    expect(await page.locator('b').count()).toBe(0);
    expect(served.ran).toEqual([]);
  });

  it('another site can neither frame the console nor answer in it, and other ports get no cookie', async () => {
    const { served, tab } = await hostile();
    await served.client.callTool('wipe', { what: 'disk' });
    await tab.page.getByRole('button', { name: 'Yes' }).waitFor();
    const key = String(await tab.page.evaluate("localStorage.getItem('parley-console')"));
    const question = await tab.page.getByRole('article').getByRole('heading').getAttribute('id');
    const handle = question!.replace('question-', '');
    const cookies: string[] = [];
    const attack = `<!doctype html><title>evil</title><iframe id="frame" src="${served.root}"></iframe>
      <form id="form" method="post" action="${served.root}console/api/${key}/answer" target="sink">
      <input name="handle" value="${handle}"><input name="say" value="yes"></form><iframe name="sink"></iframe>`;
    const other = createHttpServer(({ headers, url }, response) => {
      cookies.push(`${url} ${headers.cookie ?? ''}`);
      response.setHeader('content-type', 'text/html').end(attack);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise<void>((resolve) => other.close(() => resolve()).closeAllConnections()));
    const evil = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const page = await tab.context.newPage();
    // Even with the key, which only our own origin has, a form of another origin is refused.
    for (const path of ['/', '/console/', '/console/api/', '/console/api/now', '/console/enter', '/ask/x'])
      await page.goto(`${evil}${path}`);
    const answered = page.waitForResponse((response) => response.url().endsWith('/answer'));
    await page.evaluate("document.getElementById('form').submit()");
    expect((await answered).status()).toBe(403);
    const framed = page.frames().find((one) => one.name() === 'frame')!;
    expect(await framed.locator('#console').count()).toBe(0);
    const fetched = await page.evaluate(
      `fetch('${served.root}console/api/${key}/now', { credentials: 'include' }).then((r) => r.status, () => 'blocked')`,
    );
    expect(fetched).toBe('blocked');
    expect(cookies.join()).not.toContain('parley-paired');
    expect(served.ran).toEqual([]);
    await tab.page.getByRole('button', { name: 'Yes' }).waitFor();
  });
});
