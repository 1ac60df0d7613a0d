// `npm run bench -- tools [--write]`: what the tools of eight real servers cost a model in each mode of the step `discover`, and whether a script of
// tasks is still done. No model takes part: for each task the script searches with its words, then with other words, and goes on only if the right tool
// is found. Tokens are estimated as `parley tools` does it, a quarter of the bytes.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createGateway, createLog } from '../dist/_entries/index.js';
import { discover } from '../dist/_entries/middleware.js';
import { installPeers } from './install.mjs';
import { renewResults } from './report/results-page.mjs';

const MODES = ['all', 'hints', 'compact', 'search'];
installPeers();
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-tools-'));
writeFileSync(join(folder, 'note.txt'), 'bread and butter');

const bin = (name, file) => join(fileURLToPath(new URL(`node_modules/${name}/`, import.meta.url)), file);
const official = (name) => bin(`@modelcontextprotocol/server-${name}`, 'dist/index.js');
const start = (file, args = [], env = {}) => ({ command: process.execPath, args: [file, ...args], env });
const SERVERS = {
  files: start(official('filesystem'), [folder]),
  memory: start(official('memory'), [], { MEMORY_FILE_PATH: join(folder, 'memory.json') }),
  everything: start(official('everything')),
  thinking: start(official('sequential-thinking')),
  github: start(official('github'), [], { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' }),
  playwright: start(bin('@playwright/mcp', 'cli.js'), ['--headless']),
  notion: start(bin('@notionhq/notion-mcp-server', 'bin/cli.mjs'), [], { NOTION_TOKEN: 'none' }),
  context7: start(bin('@upstash/context7-mcp', 'dist/index.js')),
};

const entity = { name: 'Ada', entityType: 'person', observations: ['likes engines'] };
/** What somebody wants (a second wording after `|`), the tool for it, and its arguments. Without arguments, the service is not on this machine: finding the tool is all. */
const TASKS = [
  ['read the text of a file', 'files__read_text_file', { path: join(folder, 'note.txt') }],
  ['list what is in a folder', 'files__list_directory', { path: folder }],
  ['write a new file', 'files__write_file', { path: join(folder, 'new.txt'), content: 'x' }],
  ['search files by name', 'files__search_files', { path: folder, pattern: '*.txt' }],
  ['remember facts about a person | create entities in memory', 'memory__create_entities', { entities: [entity] }],
  ['what do you remember about Ada? search the knowledge graph', 'memory__search_nodes', { query: 'Ada' }],
  ['echo a message', 'everything__echo', { message: 'hello' }],
  ['add two numbers', 'everything__get-sum', { a: 2, b: 40 }],
  [
    'think step by step about a problem',
    'thinking__sequentialthinking',
    { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
  ],
  ['create an issue in a GitHub repository', 'github__create_issue'],
  ['open a pull request', 'github__create_pull_request'],
  ['go to a web page in the browser | navigate to a URL', 'playwright__browser_navigate'],
  ['take a screenshot', 'playwright__browser_take_screenshot'],
  ['search pages in Notion', 'notion__API-post-search'],
  ['documentation of a library', 'context7__query-docs'],
];

const tokensOf = (value) => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4);
const tokensOfTools = (tools) =>
  tools.reduce((sum, { name, description, inputSchema }) => sum + tokensOf({ name, description, inputSchema }), 0);

const clients = Object.fromEntries(MODES.map((mode) => [mode, mode]));
const gateway = createGateway({
  servers: SERVERS,
  steps: [discover({ clients })],
  ask: { channels: [] },
  startMs: 60_000,
  log: createLog({ level: 'silent' }),
});
const { url } = await gateway.listen({ port: 0 });
try {
  await waitForServers();
  const rows = [];
  for (const mode of MODES) rows.push(await play(mode));
  const head = [
    'mode',
    'tools listed',
    'tokens of the list',
    'tokens of all searches',
    'tasks done',
    'place of the right tool',
  ];
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  console.log(table);
  if (process.argv.includes('--write')) renewResults('tools', table);
} finally {
  await gateway.close();
}

/** As a model would: with other words if the first ones found nothing that fits. */
async function search(client, wordings, name) {
  let tokens = 0;
  for (const [tried, query] of wordings.entries()) {
    const { content } = await client.callTool({ name: 'find_tools', arguments: { query } });
    tokens += tokensOf(content);
    const place = JSON.parse(content[0].text).tools.findIndex((tool) => tool.name === name) + 1;
    if (place > 0) return { place: tried === 0 ? place : `${place} (second words)`, tokens };
  }
  return { place: '–', tokens };
}

async function waitForServers() {
  for (const { name, target } of gateway.servers) {
    await gateway.callTool(`${name}__none`).catch(() => {}); // starts it, and waits for it
    if (target.status?.state === 'failing') throw new Error(`${name}: ${target.status.failure}`);
  }
}

async function play(mode) {
  const client = new Client({ name: mode, version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const names = new Set(tools.map(({ name }) => name));
  const places = [];
  let [searched, done] = [0, 0];
  for (const [need, name, args] of TASKS) {
    const isListed = names.has(name);
    if (!isListed) {
      const { place, tokens } = await search(client, need.split(' | '), name);
      searched += tokens;
      places.push(place);
      if (place === '–') continue;
    }
    const call = isListed ? { name, arguments: args } : { name: 'call_tool', arguments: { name, arguments: args } };
    const { isError = false } = args ? await client.callTool(call) : {};
    if (!isError) done++;
  }
  await client.close();
  return [mode, tools.length, tokensOfTools(tools), searched, `${done} of ${TASKS.length}`, places.join(' ') || '–'];
}
