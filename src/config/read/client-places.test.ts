// Where the files of clients are, on each platform, computed on this one.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { clientTable } from '../client-table.ts';
import { installedClients, placeOf, userPaths } from './client-places.ts';
import type { Disk } from './client-places.ts';
import type { Environment } from './find-config.ts';

const HOMES = { linux: '/users/ann', darwin: '/people/ann', win32: String.raw`C:\Users\ann` } as const;

function on(platform: keyof typeof HOMES, env: Record<string, string> = {}): Environment {
  const home = HOMES[platform];
  return { platform, env, home, cwd: home };
}

function diskOf(files: readonly string[]): Disk {
  const isIn = (folder: string) => (file: string) =>
    file.startsWith(folder) && /^[\\/]/.test(file.slice(folder.length));
  return {
    isFile: (path) => files.includes(path),
    isFolder: (path) => files.some(isIn(path)),
    namesIn: (folder) => files.filter(isIn(folder)).map((file) => file.slice(folder.length + 1).split(/[\\/]/)[0]!),
  };
}

const specOf = (id: string) => clientTable().find((one) => one.id === id)!;
const place = (id: string, environment: Environment, files: readonly string[]): string | undefined =>
  placeOf(specOf(id), environment, diskOf(files))?.path;

describe('the table of clients', () => {
  it('the table of clients matches its schema, and has a source for each cell', () => {
    const read = (name: string): unknown =>
      JSON.parse(readFileSync(new URL(`../../../schema/${name}`, import.meta.url), 'utf8'));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const isValid = ajv.validate(read('clients.schema.json') as object, read('clients.json'));
    expect(ajv.errors).toBeNull();
    expect(isValid).toBe(true);
    const cells = clientTable().flatMap(({ files, project = [], entry }) => [
      ...Object.values(files).flat(),
      ...project,
      entry,
    ]);
    expect(cells.filter(({ source }) => !URL.canParse(source))).toEqual([]);
    expect(new Set(clientTable().map(({ id }) => id)).size).toBe(clientTable().length);
  });

  it('the table of clients leads to these files', () => {
    const paths = (['linux', 'darwin', 'win32'] as const).map((platform) =>
      clientTable().flatMap((client) =>
        userPaths(client, on(platform), diskOf([])).map((path) => `${client.id} ${path}`),
      ),
    );
    expect(paths.map((list) => list.join('\n')).join('\n\n')).toMatchInlineSnapshot(`
      "claude-desktop /users/ann/.config/Claude/claude_desktop_config.json
      claude-code /users/ann/.claude.json
      cursor /users/ann/.cursor/mcp.json
      vscode /users/ann/.config/Code/User/mcp.json
      vscode-insiders /users/ann/.config/Code - Insiders/User/mcp.json
      windsurf /users/ann/.codeium/windsurf/mcp_config.json
      gemini /users/ann/.gemini/settings.json
      codex /users/ann/.codex/config.toml
      zed /users/ann/.config/zed/settings.json
      opencode /users/ann/.config/opencode/opencode.jsonc
      opencode /users/ann/.config/opencode/opencode.json
      goose /users/ann/.config/goose/config.yaml
      continue /users/ann/.continue/config.yaml
      cline /users/ann/.cline/data/settings/cline_mcp_settings.json
      copilot-cli /users/ann/.copilot/mcp-config.json
      amp /users/ann/.config/amp/settings.json
      amp /users/ann/.config/amp/settings.jsonc
      warp /users/ann/.warp/.mcp.json
      kiro /users/ann/.kiro/settings/mcp.json
      junie /users/ann/.junie/mcp/mcp.json
      lm-studio /users/ann/.lmstudio/mcp.json
      lm-studio /users/ann/.cache/lm-studio/mcp.json
      qwen /users/ann/.qwen/settings.json
      factory /users/ann/.factory/mcp.json
      antigravity /users/ann/.gemini/antigravity/mcp_config.json
      amazon-q /users/ann/.aws/amazonq/mcp.json
      roo /users/ann/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json

      claude-desktop /people/ann/Library/Application Support/Claude/claude_desktop_config.json
      claude-code /people/ann/.claude.json
      cursor /people/ann/.cursor/mcp.json
      vscode /people/ann/Library/Application Support/Code/User/mcp.json
      vscode-insiders /people/ann/Library/Application Support/Code - Insiders/User/mcp.json
      windsurf /people/ann/.codeium/windsurf/mcp_config.json
      gemini /people/ann/.gemini/settings.json
      codex /people/ann/.codex/config.toml
      zed /people/ann/.config/zed/settings.json
      opencode /people/ann/.config/opencode/opencode.jsonc
      opencode /people/ann/.config/opencode/opencode.json
      goose /people/ann/.config/goose/config.yaml
      continue /people/ann/.continue/config.yaml
      cline /people/ann/.cline/data/settings/cline_mcp_settings.json
      copilot-cli /people/ann/.copilot/mcp-config.json
      amp /people/ann/.config/amp/settings.json
      amp /people/ann/.config/amp/settings.jsonc
      warp /people/ann/.warp/.mcp.json
      kiro /people/ann/.kiro/settings/mcp.json
      junie /people/ann/.junie/mcp/mcp.json
      lm-studio /people/ann/.lmstudio/mcp.json
      lm-studio /people/ann/.cache/lm-studio/mcp.json
      qwen /people/ann/.qwen/settings.json
      factory /people/ann/.factory/mcp.json
      antigravity /people/ann/.gemini/antigravity/mcp_config.json
      amazon-q /people/ann/.aws/amazonq/mcp.json
      roo /people/ann/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json

      claude-desktop C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json
      claude-code C:\\Users\\ann\\.claude.json
      cursor C:\\Users\\ann\\.cursor\\mcp.json
      vscode C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json
      vscode-insiders C:\\Users\\ann\\AppData\\Roaming\\Code - Insiders\\User\\mcp.json
      windsurf C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json
      gemini C:\\Users\\ann\\.gemini\\settings.json
      codex C:\\Users\\ann\\.codex\\config.toml
      zed C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json
      opencode C:\\Users\\ann\\.config\\opencode\\opencode.jsonc
      opencode C:\\Users\\ann\\.config\\opencode\\opencode.json
      goose C:\\Users\\ann\\AppData\\Roaming\\Block\\goose\\config\\config.yaml
      continue C:\\Users\\ann\\.continue\\config.yaml
      cline C:\\Users\\ann\\.cline\\data\\settings\\cline_mcp_settings.json
      copilot-cli C:\\Users\\ann\\.copilot\\mcp-config.json
      amp C:\\Users\\ann\\.config\\amp\\settings.json
      amp C:\\Users\\ann\\.config\\amp\\settings.jsonc
      warp C:\\Users\\ann\\.warp\\.mcp.json
      kiro C:\\Users\\ann\\.kiro\\settings\\mcp.json
      junie C:\\Users\\ann\\.junie\\mcp\\mcp.json
      lm-studio C:\\Users\\ann\\.lmstudio\\mcp.json
      lm-studio C:\\Users\\ann\\.cache\\lm-studio\\mcp.json
      qwen C:\\Users\\ann\\.qwen\\settings.json
      factory C:\\Users\\ann\\.factory\\mcp.json
      antigravity C:\\Users\\ann\\.gemini\\antigravity\\mcp_config.json
      amazon-q C:\\Users\\ann\\.aws\\amazonq\\mcp.json
      roo C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\globalStorage\\rooveterinaryinc.roo-cline\\settings\\mcp_settings.json"
    `);
  });
});

describe('the file of a client', () => {
  const classic = String.raw`C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json`;
  const packaged = String.raw`C:\Users\ann\AppData\Local\Packages\Claude_pzs8\LocalCache\Roaming\Claude\claude_desktop_config.json`;

  it('the file of Claude Desktop on Windows is the one of its package, where it is installed so', () => {
    expect(place('claude-desktop', on('win32'), [classic])).toBe(classic);
    expect(place('claude-desktop', on('win32'), [classic, packaged])).toBe(packaged);
    const empty = packaged.replace('claude_desktop_config.json', 'other.json');
    expect(place('claude-desktop', on('win32'), [empty])).toBe(packaged);
    expect(place('claude-desktop', on('win32'), [])).toBeUndefined();
  });

  it('the file of OpenCode is the one with comments, if it has both', () => {
    const [plain, commented] = ['json', 'jsonc'].map((ending) => `/users/ann/.config/opencode/opencode.${ending}`) as [
      string,
      string,
    ];
    expect(place('opencode', on('linux'), [plain])).toBe(plain);
    expect(place('opencode', on('linux'), [plain, commented])).toBe(commented);
  });

  it.each([
    ['codex', { CODEX_HOME: '/x' }, '/x/config.toml'],
    ['cline', { CLINE_DIR: '/x' }, '/x/data/settings/cline_mcp_settings.json'],
    ['cline', { CLINE_DATA_DIR: '/y', CLINE_DIR: '/x' }, '/y/settings/cline_mcp_settings.json'],
    ['cline', { CLINE_MCP_SETTINGS_PATH: '/z.json', CLINE_DIR: '/x' }, '/z.json'],
    ['zed', { FLATPAK_XDG_CONFIG_HOME: '/f', XDG_CONFIG_HOME: '/x' }, '/f/zed/settings.json'],
    ['opencode', { OPENCODE_CONFIG: '/o.json' }, '/o.json'],
    ['copilot-cli', { COPILOT_HOME: '/c' }, '/c/mcp-config.json'],
    ['vscode', { XDG_CONFIG_HOME: '/x' }, '/x/Code/User/mcp.json'],
  ])('the file of %s is where %o says', (id, env, path) => {
    expect(place(id, on('linux', env), [path])).toBe(path);
  });

  it('a path that a variable makes relative is not used', () => {
    expect(userPaths(specOf('codex'), on('linux', { CODEX_HOME: 'here' }))).toEqual([]);
  });

  it('a client whose folder is the home itself is not installed without its file', () => {
    expect(place('claude-code', on('linux'), ['/users/ann/other'])).toBeUndefined();
    expect(installedClients({ ...on('linux'), home: '/nowhere' })).toEqual([]);
  });
});
