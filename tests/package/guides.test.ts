// Parley accepts the configurations in docs/guides, and the entries for clients lead to its URL. Parley can read most
// of these clients' files, so it checks what the entries mean.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley } from '../helpers/built.ts';
import { filesUnder, read } from '../helpers/files.ts';

const CONFIG = /```jsonc\n(\s*\/\/ parley\.config\.jsonc\n[\s\S]*?)```/g;
const URL = 'http://127.0.0.1:8470/mcp';

const isPage = (path: string): boolean => path.endsWith('.md');
const guides = filesUnder('docs/guides', isPage);
const configs = guides.flatMap((page) => [...read(page).matchAll(CONFIG)].map((match) => ({ page, text: match[1]! })));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-guides-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a configuration in docs/guides', () => {
  it('a configuration in docs/guides is in at least three pages', () => {
    expect(new Set(configs.map(({ page }) => page)).size).toBeGreaterThanOrEqual(3);
  });

  it.each(configs)('a configuration in docs/guides of $page passes "parley check"', ({ text }) => {
    writeFileSync(join(folder, 'notes.mjs'), '');
    expect(check('parley.config.jsonc', text)).toMatchObject({ status: 0 });
  });
});

describe('a command in the docs', () => {
  it('a command in the docs is not `npx parley`, which fetches the package of somebody else where ours is not installed', () => {
    const pages = [...filesUnder('docs', isPage), ...filesUnder('examples', isPage), 'README.md'];
    expect(pages.filter((page) => read(page).includes('npx parley'))).toEqual([]);
  });
});

describe('an entry for a client in docs/guides/clients.md', () => {
  const block = (client: string) =>
    new RegExp(`^\\*\\*${client}\\*\\*[\\s\\S]*?\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``, 'm').exec(
      read('docs/guides/clients.md'),
    )![1]!;

  it.each([
    ['Cursor', 'mcp.json'],
    ['VS Code', 'mcp.json'],
    ['Windsurf', 'mcp_config.json'],
    ['Codex', 'config.toml'],
    ['Gemini CLI', 'settings.json'],
  ])('of %s leads to the gateway', (client, file) => {
    const { status, stdout } = check(file, block(client), ['--print']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(`"url": "${URL}"`) as string });
  });

  it('an entry for a client in docs/guides/clients.md of Claude Desktop starts the gateway on stdio', () => {
    const { mcpServers } = JSON.parse(block('Claude Desktop')) as { mcpServers: { parley: { args: string[] } } };
    expect(mcpServers.parley.args).toEqual(['-y', 'mcp-parley', 'serve', '--stdio']);
  });

  it.each(['Zed', 'OpenCode'])(
    'an entry for a client in docs/guides/clients.md of %s is JSON with the URL',
    (client) => {
      expect(JSON.stringify(JSON.parse(block(client)))).toContain(`"url":"${URL}"`);
    },
  );
});

function check(file: string, text: string, options: string[] = []): ReturnType<typeof parley> {
  const path = join(folder, file);
  writeFileSync(path, text.replace('${GITHUB_TOKEN}', 'x'));
  return parley(['check', path, ...options]);
}
