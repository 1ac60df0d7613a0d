// `parley bundle`, judged by the official tools for MCP bundles: they check the manifest, unpack the archive, and say how an application starts it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import { readFileSync } from 'node:fs';
import { ROOT } from '../../helpers/files.ts';
import { Home, WEATHER } from '../../helpers/parley.ts';
import { until } from '../../helpers/until.ts';

const TOOLS = join(ROOT, 'tests', 'clients', 'node_modules', '@anthropic-ai', 'mcpb', 'dist');

function mcpb(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(TOOLS, 'cli', 'cli.js'), ...args], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('ERROR')]);
  return stdout;
}

interface Started {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** As an application does, with what its user has answered. */
async function unpacked(bundle: string, userConfig: Record<string, string>): Promise<Started> {
  const folder = `${bundle}.d`;
  mcpb('unpack', bundle, folder);
  expect(mcpb('validate', folder)).toContain('Manifest schema validation passes!');
  const at = pathToFileURL(join(TOOLS, 'shared', 'config.js')).href;
  const { getMcpConfigForManifest, hasRequiredConfigMissing } = (await import(at)) as {
    getMcpConfigForManifest: (options: object) => Promise<Started>;
    hasRequiredConfigMissing: (options: object) => boolean;
  };
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as object;
  expect(hasRequiredConfigMissing({ manifest, userConfig })).toBe(false);
  return getMcpConfigForManifest({ manifest, extensionPath: folder, systemDirs: {}, userConfig, pathSeparator: '/' });
}

/** In an empty home: nothing of this checkout is near, and nothing is trusted but what the bundle says. */
async function callsWeather(home: Home, { command, args, env }: Started, tool: string): Promise<string> {
  const { env: own } = home.address([]) as { env: Record<string, string> };
  const { PARLEY_TRUST: _, ...plain } = own;
  await using client = await connect({
    command: command === 'node' ? process.execPath : command,
    args,
    env: { ...plain, ...env },
    cwd: home.path,
  });
  await until(tool, async () => (await client.listTools()).some(({ name }) => name === tool));
  return JSON.stringify(await client.callTool(tool, { location: 'Oslo' }));
}

test('a bundle with a configuration asks for its variables, and serves it from where it was unpacked, without a trace of their values', async () => {
  using home = new Home();
  const weather = { ...WEATHER, env: { TOKEN: '${WEATHER_TOKEN}' } };
  home.write('team.config.json', { mcpServers: { weather, other: { ...WEATHER, disabled: true } } });
  const secret = 'a-very-secret-value';
  const made = await home.run(['bundle', 'team.config.json', '--name', 'team'], '', { WEATHER_TOKEN: secret });
  expect(made).toMatchObject({ status: 0, stderr: '' });
  expect(made.stdout).toContain('asks for WEATHER_TOKEN');
  const started = await unpacked(join(home.path, 'team.mcpb'), { WEATHER_TOKEN: 'answer' });
  expect(started.env['WEATHER_TOKEN']).toBe('answer');
  const config = readFileSync(join(home.path, 'team.mcpb.d', 'team.config.json'), 'utf8');
  expect(config).toContain('${WEATHER_TOKEN}');
  expect(config).not.toContain(secret);
  expect(await callsWeather(home, started, 'get_weather')).toContain('Oslo');
});

test('a bundle with a command wraps that server, and the same call makes the same bytes', async () => {
  using home = new Home();
  const command = [WEATHER.command, ...WEATHER.args];
  const made = await home.run(['bundle', '--name', 'weather', '--', ...command]);
  expect(made).toMatchObject({ status: 0, stderr: '' });
  await home.run(['bundle', '--name', 'weather', '--out', 'again.mcpb', '--', ...command]);
  const bytes = ['weather', 'again'].map((name) => readFileSync(join(home.path, `${name}.mcpb`)).toString('base64'));
  expect(new Set(bytes).size).toBe(1);
  const started = await unpacked(join(home.path, 'weather.mcpb'), {});
  expect(await callsWeather(home, started, 'get_weather')).toContain('Oslo');
});

test('a bundle without a configuration serves that of its user, and what would not work elsewhere is refused', async () => {
  using home = new Home();
  expect((await home.run(['bundle'])).status).toBe(0);
  const { args, env } = await unpacked(join(home.path, 'parley.mcpb'), {});
  expect([args.slice(1), env]).toEqual([['serve', '--stdio'], {}]);
  home.write('near.json', { mcpServers: { near: { command: 'node', args: ['./near.mjs'] } } });
  const refused = await home.run(['bundle', 'near.json']);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('./near.mjs')]);
});
