// Clients read what `parley connect` wrote into their files, by their own code, and those that list servers by starting them reach the servers behind Parley.
// The programs are in tests/clients; Codex is too large for CI (404 MB): PARLEY_CODEX names one to try.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { MAIN } from '../../helpers/built.ts';
import { bytesOf, writeFiles } from '../../helpers/client-homes.ts';
import { ROOT } from '../../helpers/files.ts';
import { Home, WEATHER } from '../../helpers/parley.ts';
import { parse } from 'yaml';

const MODULES = join(ROOT, 'tests', 'clients', 'node_modules');
const CODEX = process.env['PARLEY_CODEX'];
/** Programs for other platforms are not tried. */
const isLinux = process.platform === 'linux' && process.arch === 'x64';

const FILES = {
  '.gemini/settings.json': `{\n  // mine\n  "ui": { "theme": "GitHub" },\n  "mcpServers": { "weather": ${JSON.stringify(WEATHER)} }\n}\n`,
  'config/opencode/opencode.jsonc': `{\n  "$schema": "https://opencode.ai/config.json", // mine\n  "mcp": { "weather": { "type": "local", "command": ${JSON.stringify([WEATHER.command, ...WEATHER.args])}, "enabled": true } },\n}\n`,
  '.cline/data/settings/cline_mcp_settings.json': JSON.stringify({
    mcpServers: { weather: { ...WEATHER, disabled: false } },
  }),
  '.continue/config.yaml': `name: Local # mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: weather\n    command: ${WEATHER.command}\n    args: ${JSON.stringify(WEATHER.args)}\n`,
  '.codex/config.toml': `model = "x" # mine\n\n[mcp_servers.weather]\ncommand = ${JSON.stringify(WEATHER.command)}\nargs = ${JSON.stringify(WEATHER.args)}\n\n[tools]\nweb_search = false\n`,
};

/** What each of them starts now. */
function entryIn(home: Home): [command: string, ...args: string[]] {
  const own = join(home.path, 'config', 'parley', 'parley.config.jsonc');
  return [process.execPath, MAIN, 'serve', own, '--stdio'];
}

/** What a client prints, without colours. It reaches no network, and updates nothing. */
async function says(home: Home, [command, ...args]: [string, ...string[]]): Promise<string> {
  const { env } = home.address([]) as { env: Record<string, string> };
  const nowhere = 'http://127.0.0.1:9';
  const alone = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_COLOR: '1', CI: '1' };
  const trusted = {
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  };
  const options = { cwd: home.path, env: { ...env, ...alone, ...trusted }, timeout: 100_000 };
  return new Promise((resolve) => {
    const child = execFile(command, args, options, (_, stdout, stderr) =>
      resolve(stripVTControlCharacters(stdout + stderr)),
    );
    child.stdin!.end();
  });
}

/** However the client has read its file: every byte is as it was. */
async function takesBack(home: Home): Promise<void> {
  const { status, stderr } = await home.run(['connect', '--undo']);
  expect([status, stderr]).toEqual([0, '']);
  expect(bytesOf(home, Object.keys(FILES))).toEqual(
    Object.values(FILES).map((text) => Buffer.from(text).toString('base64')),
  );
  expect(existsSync(join(home.path, 'config', 'parley', 'parley.config.jsonc'))).toBe(false);
}

async function connected(): Promise<Home> {
  const home = new Home();
  writeFiles(home, FILES);
  const { status, stderr } = await home.run(['connect', '--yes']);
  expect([status, stderr]).toEqual([0, '']);
  return home;
}

test.skipIf(!isLinux)(
  'Gemini CLI reads what connect wrote, starts Parley by it, and has its file back after undo',
  async () => {
    using home = await connected();
    const gemini = join(MODULES, '@google', 'gemini-cli', 'bundle', 'gemini.js');
    const told = await says(home, [process.execPath, gemini, 'mcp', 'list']);
    expect(told).toContain(`✓ parley: ${entryIn(home).join(' ')} (stdio) - Connected`);
    expect(told).not.toContain('weather');
    await takesBack(home);
  },
);

test.skipIf(!isLinux)(
  'OpenCode reads what connect wrote, starts Parley by it, and has its file back after undo',
  async () => {
    using home = await connected();
    const told = await says(home, [join(MODULES, 'opencode-linux-x64-baseline', 'bin', 'opencode'), 'mcp', 'list']);
    expect(told).toMatch(/✓ parley connected/);
    expect(told).toContain(entryIn(home).join(' '));
    expect(told).toContain('1 server(s)');
    await takesBack(home);
  },
);

test.skipIf(!isLinux)('Cline reads what connect wrote, and has its file back after undo', async () => {
  using home = await connected();
  const told = await says(home, [join(MODULES, '@cline', 'cli-linux-x64', 'bin', 'cline'), 'config', 'mcp', '--json']);
  expect(JSON.parse(told)).toEqual([
    {
      name: 'parley',
      transportType: 'stdio',
      disabled: false,
      path: join(home.path, '.cline', 'data', 'settings', 'cline_mcp_settings.json'),
    },
  ]);
  await takesBack(home);
});

test('the schema of Continue takes what connect wrote', async () => {
  using home = await connected();
  const at = pathToFileURL(join(MODULES, '@continuedev', 'config-yaml', 'dist', 'index.js')).href;
  const { parseConfigYaml, validateConfigYaml } = (await import(at)) as {
    parseConfigYaml: (text: string) => { mcpServers: object[] };
    validateConfigYaml: (config: object) => unknown[] | undefined;
  };
  const text = readFileSync(join(home.path, '.continue', 'config.yaml'), 'utf8');
  const config = parseConfigYaml(text);
  const [command, ...args] = entryIn(home);
  expect(config.mcpServers).toEqual([{ name: 'parley', command, args }]);
  expect(validateConfigYaml(parse(text) as object) ?? []).toEqual([]);
  await takesBack(home);
});

test.skipIf(CODEX === undefined)('Codex reads what connect wrote, and has its file back after undo', async () => {
  using home = await connected();
  const told = await says(home, [CODEX!, 'mcp', 'list', '--json']);
  const [command, ...args] = entryIn(home);
  const servers = JSON.parse(told.slice(told.indexOf('['), told.lastIndexOf(']') + 1)) as object[];
  expect(servers).toMatchObject([{ name: 'parley', enabled: true, transport: { type: 'stdio', command, args } }]);
  await takesBack(home);
});
