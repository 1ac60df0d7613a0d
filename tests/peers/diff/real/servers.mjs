// Servers that others wrote, how to start them, and what is asked of them. Each way of asking has a folder with the same
// contents, so that answers can be equal. `alone`: the answer names what only this server could know, such as what it has not.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packaged = (name) =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const fixture = fileURLToPath(new URL('../../../fixtures/servers/odd-fields.mjs', import.meta.url));

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
const list = (method) => ({ method, params: {} });
const tool = (name, args = {}, more = {}) => ({ method: 'tools/call', params: { name, arguments: args }, ...more });
const prompt = (name, args) => ({ method: 'prompts/get', params: { name, ...(args && { arguments: args }) } });
const read = (uri, more = {}) => ({ method: 'resources/read', params: { uri }, ...more });
const complete = (ref, name, value, context) => ({
  method: 'completion/complete',
  params: { ref, argument: { name, value }, ...(context && { context: { arguments: context } }) },
});

export const SERVERS = [
  {
    name: 'everything',
    start: () => ({ command: process.execPath, args: [packaged('everything')] }),
    calls: () => [
      ...LISTS.map(list),
      tool('echo', { message: 'grüße 👋 \u0000 \u2028' }),
      tool('echo', { message: '' }),
      tool('echo', {}),
      tool('echo', { message: 7 }),
      tool('get-sum', { a: 1.5, b: -1e300 }),
      ...['error', 'success', 'debug'].map((messageType) =>
        tool('get-annotated-message', { messageType, includeImage: true }),
      ),
      tool('get-structured-content', { location: 'Chicago' }),
      tool('get-structured-content', { location: 'Nowhere' }),
      tool('get-tiny-image'),
      tool('get-resource-links', { count: 4 }),
      tool('get-resource-reference', { resourceType: 'Text', resourceId: 3 }),
      tool('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
      tool('gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }),
      tool('gzip-file-as-resource', { name: 'b.gz', data: 'data:text/plain,hello', outputType: 'resourceLink' }),
      list('resources/list'),
      read('demo://resource/session/b.gz'),
      tool('trigger-long-running-operation', { duration: 0.2, steps: 4 }, { progress: true }),
      tool('trigger-long-running-operation', { duration: 0.2, steps: 4 }),
      tool('no-such-tool', {}, { alone: true }),
      prompt('simple-prompt'),
      prompt('args-prompt', { city: 'Bern', state: 'BE' }),
      prompt('args-prompt', {}),
      prompt('resource-prompt', { resourceType: 'Text', resourceId: '1' }),
      { ...prompt('no-such-prompt'), alone: true },
      read('demo://resource/static/document/architecture.md'),
      read('demo://resource/dynamic/text/1'),
      read('demo://resource/dynamic/blob/1'),
      read('demo://resource/dynamic/text/none'),
      read('nowhere://at/all', { alone: true }),
      complete({ type: 'ref/prompt', name: 'completable-prompt' }, 'department', 'E'),
      complete({ type: 'ref/prompt', name: 'completable-prompt' }, 'name', '', { department: 'Sales' }),
      complete({ type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' }, 'resourceId', '1'),
      { method: 'no/such', params: { a: 1 }, alone: true },
    ],
  },
  {
    name: 'filesystem',
    start: (folder) => ({ command: process.execPath, args: [packaged('filesystem'), folder] }),
    calls: (folder) => [
      list('tools/list'),
      tool('list_allowed_directories'),
      tool('read_text_file', { path: join(folder, 'a.txt') }),
      tool('read_text_file', { path: join(folder, 'a.txt'), head: 1 }),
      tool('read_text_file', { path: join(folder, 'missing.txt') }),
      tool('read_text_file', { path: '/etc/hostname' }),
      tool('read_text_file', {}),
      tool('read_media_file', { path: join(folder, 'pixel.png') }),
      tool('read_multiple_files', { paths: [join(folder, 'a.txt'), join(folder, 'missing.txt')] }),
      tool('write_file', { path: join(folder, 'new.txt'), content: 'x'.repeat(300_000) }),
      tool('read_text_file', { path: join(folder, 'new.txt') }),
      tool('edit_file', { path: join(folder, 'a.txt'), edits: [{ oldText: 'one', newText: 'ONE' }] }),
      tool('create_directory', { path: join(folder, 'deep/er') }),
      tool('move_file', { source: join(folder, 'a.txt'), destination: join(folder, 'deep/er/b.txt') }),
      tool('list_directory', { path: folder }),
      tool('directory_tree', { path: folder }),
      tool('search_files', { path: folder, pattern: '**/*.txt' }),
      tool('get_file_info', { path: join(folder, 'pixel.png') }),
    ],
  },
  {
    name: 'memory',
    start: (folder) => ({
      command: process.execPath,
      args: [packaged('memory')],
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    }),
    calls: () => [
      ...['tools/list', 'resources/list', 'resources/templates/list'].map(list),
      tool('create_entities', {
        entities: [
          { name: 'Ada', entityType: 'person', observations: ['wrote a program'] },
          { name: 'Engine', entityType: 'machine', observations: [] },
        ],
      }),
      tool('create_relations', { relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }] }),
      tool('add_observations', { observations: [{ entityName: 'Ada', contents: ['countess'] }] }),
      tool('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }),
      tool('search_nodes', { query: 'engine' }),
      tool('open_nodes', { names: ['Ada'] }),
      read('memory://knowledge-graph'),
      tool('delete_entities', { entityNames: ['Engine'] }),
      tool('read_graph'),
      tool('open_nodes', { names: 'not a list' }),
    ],
  },
  {
    name: 'sequential-thinking',
    start: () => ({ command: process.execPath, args: [packaged('sequential-thinking')] }),
    calls: () => [
      list('tools/list'),
      ...[1, 2].map((thoughtNumber) =>
        tool('sequentialthinking', {
          thought: `thought ${thoughtNumber}`,
          thoughtNumber,
          totalThoughts: 2,
          nextThoughtNeeded: thoughtNumber < 2,
        }),
      ),
      tool('sequentialthinking', { thought: 'x' }),
    ],
  },
  {
    // Ours, and by hand: sends in every place what no revision defines.
    name: 'odd-fields',
    start: () => ({ command: process.execPath, args: [fixture] }),
    calls: () => [
      ...LISTS.map(list),
      ...['odd', 'odd_error', 'odd_refusal', 'odd_refusal_bare', 'odd_numbers'].map((name) =>
        tool(name, { text: 'x', 'un known': [null] }),
      ),
      tool('odd_progress', {}, { progress: true }),
      tool(
        'odd_echo',
        { a: { deep: [1, 'two', null, true, { __proto__x: 1 }] } },
        { meta: { 'com.example/trace': [1] } },
      ),
      prompt('odd_prompt', { one: '1' }),
      read('odd:///one'),
      complete({ type: 'ref/prompt', name: 'odd_prompt' }, 'one', 'v'),
    ],
  },
];

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function prepareFolder(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(folder, 'pixel.png'), Buffer.from(PIXEL, 'base64'));
  for (const name of ['a.txt', 'pixel.png']) utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
}
