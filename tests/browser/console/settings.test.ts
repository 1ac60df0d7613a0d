// Settings in the console: what is in effect, and where each value comes from.
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/read/load-config.ts';
import { showSettings } from '../../../src/config/show-settings.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import { enter, startGateway } from './console-gateway.ts';

const WIDE = { width: 1180, height: 860 };
const { open, closing } = browserOfTests();

const TEXT = `{
  "mcpServers": {
    "github": { "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer \${GITHUB_TOKEN}" } },
    "files": { "command": "npx", "args": ["-y", "secure-filesystem-server", "./notes"], "env": { "API_KEY": "hunter2hunter2" }, "timeout": 60000 }
  },
  "listen": 8470,
  "rules": [{ "tool": "delete_*", "effect": "ask" }],
  "pins": "destructive"
}`;

async function settings() {
  const env = { GITHUB_TOKEN: 'ghp_s3cret-of-github' };
  const options = { env, cwd: '/x', home: '/h', platform: 'linux', read: () => '' } as const;
  const loaded = readConfig({ path: '/x/parley.config.jsonc', text: TEXT }, options);
  const parts = [{ read: loaded.read, file: 'parley.config.jsonc' }];
  const typed = new Map([['log.level', { option: '--log', value: 'debug' }]]);
  const shown = showSettings({ config: loaded.config!, loaded, parts, ownRules: 0, ownFile: 'own', typed });
  return { file: 'parley.config.jsonc', settings: shown, pending: ['limits'] };
}

describe.skipIf(chromiumPath === undefined)('the settings in the console', () => {
  it.each(['light', 'dark'] as const)(
    'show each value with where it comes from, and no secret (%s)',
    async (colorScheme) => {
      const served = await startGateway(closing, { settings });
      const tab = await open({ viewport: WIDE, colorScheme });
      const { page } = tab;
      await enter(served, tab);
      await page.keyboard.press(String(await page.getByRole('navigation').getByRole('link').count()));
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      const github = page.getByRole('region', { name: 'servers.github' });
      await github.getByText('parley.config.jsonc:3 mcpServers.github.url').waitFor();
      await github.getByText('environment variable GITHUB_TOKEN').waitFor();
      await page.getByText('command line, --log').waitFor();
      await page.getByText('in effect at the next start: limits').waitFor();
      expect(await page.content()).not.toMatch(/s3cret|hunter2/);
      expect(await violations(tab)).toEqual([]);
      await page.getByLabel('Find').fill('drainMs');
      await page.getByText('No setting is like that.').waitFor();
      await page.getByLabel('with defaults').check();
      await page.getByRole('row', { name: /^drainMs .* default/ }).waitFor();
      expect(page.url()).toContain('defaults=yes');
      expect(await violations(tab)).toEqual([]);
      expect(tab.complaints).toEqual([]);
    },
  );

  it('the page fits the width of a phone', async () => {
    const served = await startGateway(closing, { settings });
    const tab = await open({ viewport: { width: 390, height: 844 } });
    await enter(served, tab);
    await tab.page.getByRole('link', { name: 'Settings' }).click();
    await tab.page.getByText('command line, --log').waitFor();
    expect(await tab.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violations(tab)).toEqual([]);
  });
});
