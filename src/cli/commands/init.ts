// `parley init`: writes a first configuration, and never over another one.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { findConfig } from '../../config/read/find-config.ts';
import { installedClients } from '../../config/read/client-places.ts';
import type { Environment } from '../../config/read/find-config.ts';
import { userFolder } from '../../kernel/secrets/own-folders.ts';
import type { InitCommand } from '../args/connect-commands.ts';
import { displayPath, readEnvironment } from '../environment.ts';
import { programName } from '../program.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { isOwnConfig } from '../trust/judge-trust.ts';

const JSONC = `// The servers of Parley. "parley check" finds mistakes in this file; an edit applies at once.
{
  "mcpServers": {
    // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },
    // "github": { "url": "https://api.githubcopilot.com/mcp/", "tools": { "approve": "destructive" } },
  },
  // What nobody may do, whatever the server:
  // "rules": [{ "tool": "delete_*", "effect": "deny" }],
}
`;
const YAML = `# The servers of Parley. "parley check" finds mistakes in this file; an edit applies at once.
mcpServers: {}
#  files: { command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", .] }
#  github: { url: https://api.githubcopilot.com/mcp/, tools: { approve: destructive } }
# What nobody may do, whatever the server:
# rules: [{ tool: delete_*, effect: deny }]
`;

export async function runInit({ file }: InitCommand, print: Printer): Promise<number> {
  const environment = readEnvironment();
  const own = findConfig(userFolder(environment), environment).path;
  const path = file === undefined ? (own ?? join(userFolder(environment), 'parley.config.jsonc')) : resolve(file);
  if (!/^\.(?:jsonc?|ya?ml)$/.test(extname(path))) {
    print.problem(`"${displayPath(path)}" must end in .jsonc, .json, .yaml or .yml.`);
    return 1;
  }
  if (existsSync(path)) {
    print.problem(
      `${displayPath(path)} is there already, and stays as it is. To see whether all is well: ${programName()} doctor`,
    );
    return 1;
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, textFor(path), { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    print.problem(`${displayPath(path)} cannot be written: ${(thrown as NodeJS.ErrnoException).code ?? 'unknown'}.`);
    return 1;
  }
  print.line(`Written: ${displayPath(path)}`);
  for (const line of nextLines(path, environment)) print.line(line);
  return 0;
}

function textFor(path: string): string {
  if (/\.ya?ml$/.test(path)) return YAML;
  return path.endsWith('.jsonc') ? JSONC : '{\n  "mcpServers": {}\n}\n';
}

function nextLines(path: string, environment: Environment): string[] {
  const name = programName();
  const isOwn = isOwnConfig(path, environment);
  const hasClients = installedClients(environment).some(({ exists }) => exists);
  const at = isOwn ? '' : ` ${displayPath(path)}`;
  return [
    ...(isOwn && hasClients ? [`To take over the servers of your clients: ${name} connect`] : []),
    `${isOwn && hasClients ? 'Or write' : 'Write'} your servers there, then: ${name} check${at}`,
    ...(isOwn ? [] : [`It is not in your config folder, so trust it once it is complete: ${name} trust${at}`]),
    `To serve them: ${name} serve${at}`,
  ];
}
