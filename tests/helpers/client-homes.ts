// A home with the files of eleven clients, as people and programs leave them: comments, tabs, CRLF, a byte order mark, settings that are nobody's business.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseYaml } from 'yaml';
import type { Home } from './parley.ts';

export interface StdioServer {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

export type EightServers = Record<
  'everything' | 'files' | 'memory' | 'thinking' | 'github' | 'notion' | 'playwright' | 'context7',
  StdioServer
>;

/** The file of each client, by its place in the home, with some of these servers. */
export function clientFiles(all: EightServers): Record<string, string> {
  const some = (...names: (keyof EightServers)[]) => Object.fromEntries(names.map((name) => [name, all[name]]));
  return {
    '.claude.json': json({
      numStartups: 3,
      mcpServers: some('everything', 'files'),
      projects: { '/x': { mcpServers: {} } },
    }),
    '.cursor/mcp.json': `\uFEFF// of mine\n${json({ mcpServers: some('files', 'memory') })}\n`.replaceAll('\n', '\r\n'),
    'config/Code/User/mcp.json': `{\n\t// VS Code\n\t"servers": {\n\t\t"thinking": ${JSON.stringify({ type: 'stdio', ...all.thinking })},\n\t},\n\t"inputs": []\n}`,
    '.codeium/windsurf/mcp_config.json': json({ mcpServers: some('github') }),
    '.gemini/settings.json': json({ theme: 'dark', mcp: { allowed: ['notion'] }, mcpServers: some('notion') }),
    '.codex/config.toml': `model = "x" # mine\n\n${toToml(some('github', 'memory'))}\n[tools]\nweb = true\n`,
    'config/zed/settings.json': `// Zed\n${json({ vim_mode: true, context_servers: some('playwright') })}`,
    'config/opencode/opencode.json': json({ theme: 'x', mcp: { context7: toLocal(all.context7) } }),
    'config/goose/config.yaml': `GOOSE_MODEL: x # mine\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n${toGoose('notion', all.notion)}`,
    '.continue/config.yaml': `name: Local\nversion: 1.0.0\nschema: v1\nmcpServers:\n  # mine\n  - name: github\n    ${toYaml(all.github, 'env')}\n`,
    '.cline/data/settings/cline_mcp_settings.json': json({
      mcpServers: { everything: { ...all.everything, disabled: false } },
    }),
  };
}

export function writeFiles(home: Home, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(home.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

export function bytesOf(home: Home, names: readonly string[]): string[] {
  return names.map((name) => readFileSync(join(home.path, name)).toString('base64'));
}

/** What a client of this file starts for `parley`, read by the library of its format, and not by Parley. */
export function parleyEntry(home: Home, name: string): StdioServer {
  const text = readFileSync(join(home.path, name), 'utf8').replace(/^\uFEFF/, '');
  const file = (
    name.endsWith('.toml') ? parseToml(text) : name.endsWith('.yaml') ? parseYaml(text) : parseJson(text)
  ) as Record<string, unknown>;
  const block = ['mcpServers', 'servers', 'mcp_servers', 'context_servers', 'extensions', 'mcp']
    .filter((key) => key !== 'mcp' || name.includes('opencode'))
    .map((key) => file[key])
    .find((one) => one !== undefined) as Record<string, Entry> | Entry[];
  const entry = Array.isArray(block) ? block.find((one) => one.name === 'parley')! : block['parley']!;
  const { command, cmd, args = [] } = entry;
  if (Array.isArray(command)) return { command: command[0]!, args: command.slice(1) };
  return { command: command ?? cmd!, args };
}

interface Entry {
  name?: string;
  command?: string | string[];
  cmd?: string;
  args?: string[];
}

const json = (value: object): string => JSON.stringify(value, undefined, 2);

function toToml(servers: Record<string, StdioServer>): string {
  const tables = Object.entries(servers).map(([name, { command, args, env = {} }]) => {
    const variables = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    const lines = [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`];
    if (variables.length > 0) lines.push(`env = { ${variables.join(', ')} }`);
    return `# ${name}\n[mcp_servers.${name}]\n${lines.join('\n')}\n`;
  });
  return tables.join('\n');
}

function toLocal({ command, args, env = {} }: StdioServer): object {
  return { type: 'local', command: [command, ...args], environment: env, enabled: true };
}

function toGoose(name: string, { command, args, env = {} }: StdioServer): string {
  return `  ${name}:\n    type: stdio\n    name: ${name}\n    cmd: ${command}\n    args: ${JSON.stringify(args)}\n    envs: ${JSON.stringify(env)}\n    enabled: true\n`;
}

function toYaml({ command, args, env = {} }: StdioServer, key: string): string {
  return `command: ${command}\n    args: ${JSON.stringify(args)}\n    ${key}: ${JSON.stringify(env)}`;
}
