// Serves the configuration files of other clients unchanged, with servers of the official SDK in them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../helpers/files.ts';
import { Home } from '../../helpers/parley.ts';

const NAMED = join(ROOT, 'tests', 'peers', 'borders', 'servers', 'named-v1.mjs');
const home = new Home();
const headers: Record<string, unknown>[] = [];
/** Takes only callers with a token, and notes what they send. */
const http = createServer((request, response) => {
  headers.push(request.headers);
  if (request.headers.authorization !== 'Bearer t0ken') return void response.writeHead(401).end();
  const server = new McpServer({ name: 'docs', version: '1' });
  server.registerTool('search', { description: 'Searches' }, () => ({ content: [{ type: 'text', text: 'found' }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  void server.connect(transport).then(() => transport.handleRequest(request, response));
});
beforeAll(() => new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  http.closeAllConnections();
  http.close();
  home[Symbol.dispose]();
});

async function toolsOf(file: string, env: Record<string, string> = {}): Promise<string[]> {
  const { stdout, stderr } = await home.run(['ls', 'tools', file, '--json'], '', env);
  expect(stderr).not.toContain('error');
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
}

test('config.toml of Codex: commands, URLs, tokens from the environment, and which tools are enabled', async () => {
  mkdirSync(join(home.path, '.codex'), { recursive: true });
  const { port } = http.address() as AddressInfo;
  home.write(
    '.codex/config.toml',
    `model = "gpt-5-codex"

[mcp_servers.shop]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(NAMED)}]
env_vars = ["TOOLS"]
enabled_tools = ["buy", "look"]
disabled_tools = ["look"]
env = { NAME = "shop" }

[mcp_servers.docs]
url = "http://127.0.0.1:${port}/mcp"
bearer_token_env_var = "DOCS_TOKEN"
env_http_headers = { "X-Team" = "TEAM" }

[mcp_servers.off]
command = "not-there"
enabled = false
`,
  );
  const env = { TOOLS: 'buy,look,sell', DOCS_TOKEN: 't0ken', TEAM: 'blue' };
  expect(await toolsOf('.codex/config.toml', env)).toEqual(['shop__buy', 'docs__search']);
  expect(headers.every((one) => one['x-team'] === 'blue')).toBe(true);
});

test('.claude.json of Claude Code: servers of the user, and of the project in which Parley is started', async () => {
  const server = (name: string) => ({ command: process.execPath, args: [NAMED], env: { NAME: name, TOOLS: 'deploy' } });
  home.write('.claude.json', {
    mcpServers: { user: server('user') },
    projects: {
      [realpathSync(home.path)]: { mcpServers: { local: server('local') } },
      '/elsewhere': { mcpServers: { other: server('other') } },
    },
  });
  expect(await toolsOf('.claude.json')).toEqual(['user__deploy', 'local__deploy']);
});
