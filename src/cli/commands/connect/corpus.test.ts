// More than 200 files of clients, made from a few by what people and programs do to them. Each survives `connect` and `connect --undo` byte by byte: either it is
// left alone with a reason, or everything but its servers is as it was.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientTable } from '../../../config/client-table.ts';
import type { ClientSpec } from '../../../config/client-table.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { placeOf, userPaths } from '../../../config/read/client-places.ts';
import { applyPlans } from './apply-plans.ts';
import { UneditableFile, readClientText } from './client-edit.ts';
import { addToOwnConfig, ownConfigPath } from './own-config.ts';
import { planClient } from './plan-client.ts';
import type { ClientPlan } from './plan-client.ts';
import { undoConnect } from './undo.ts';
import { createPrinter } from '../../terminal/print.ts';

let environment: Environment;
beforeEach(() => {
  const home = mkdtempSync(join(tmpdir(), 'parley-corpus-'));
  environment = { home, cwd: home, env: {}, platform: 'linux' };
});
afterEach(() => rmSync(environment.home, { recursive: true, force: true }));

const LAUNCH = { command: '/opt/node', args: ['/opt/cli/main.js', 'serve', '/own.jsonc', '--stdio'] };
const silent = createPrinter({ out: { write: () => true }, err: { write: () => true } });

/** The same two servers and some settings, as each client writes them. */
function seed({ format, key, container }: ClientSpec): string {
  if (format === 'toml')
    return `model = "x" # mine\n\n# about a\n[mcp_servers.a]\ncommand = "npx"\nargs = [\n  "-y", # yes\n  "a]b",\n]\n[mcp_servers.a.env]\nKEY = "v=1"\n\n[mcp_servers."b c"]\nurl = "https://b.example/mcp"\n\n# the rest\n[tools]\nweb = """\n[mcp_servers.not]\n"""\n`;
  if (container === 'list')
    return `name: Local # mine\nversion: 1.0.0\nmcpServers:\n  # about a\n  - name: a\n    command: npx\n    args: ["-y", a]\n    env:\n      KEY: 'v=1'\n  - name: b c\n    type: streamable-http\n    url: https://b.example/mcp\nrules:\n  - |\n    keep  this\n`;
  if (format === 'yaml')
    return `GOOSE_MODEL: 'x' # mine\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n  # about a\n  a:\n    type: stdio\n    name: a\n    cmd: npx\n    args: ["-y", a]\n    envs: {KEY: "v=1"}\n    enabled: true\n  b:\n    type: streamable_http\n    name: b\n    uri: https://b.example/mcp\n    enabled: true\nlist:\n- 1\n- "two"\n`;
  const a =
    key[0] === 'mcp'
      ? '{ "type": "local", "command": ["npx", "-y", "a"], "environment": { "KEY": "v=1" }, "enabled": true }'
      : '{ "command": "npx", "args": ["-y", "a"], "env": { "KEY": "v=1" } }';
  const b =
    key[0] === 'mcp' ? '{ "type": "remote", "url": "https://b.example/mcp" }' : '{ "url": "https://b.example/mcp" }';
  return `{\n  "theme": "dark",\n  "${key[0]}": {\n    "a": ${a},\n    "b c": ${b}\n  },\n  "last": [1, 2.50, {"deep": {"x": null}}]\n}\n`;
}

type Change = (text: string, client: ClientSpec) => string | Buffer;

/** What happens to files. */
const CHANGES: Record<string, Change> = {
  'as it is': (text) => text,
  CRLF: (text) => text.replaceAll('\n', '\r\n'),
  'a byte order mark': (text) => `\uFEFF${text}`,
  'a byte order mark and CRLF': (text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`,
  'no last line end': (text) => text.trimEnd(),
  'empty lines around it': (text) => `\n\n${text}\n\n\n`,
  tabs: (text, { format }) =>
    format === 'json' ? text.replaceAll(/^ +/gm, (indent) => '\t'.repeat(indent.length / 2)) : text,
  'four spaces': (text, { format }) =>
    format === 'json' ? text.replaceAll(/^ +/gm, (indent) => indent + indent) : text,
  'one line': (text, { format }) => (format === 'json' ? JSON.stringify(JSON.parse(text)) : text),
  comments: (text, { format }) =>
    format === 'json'
      ? `// first\n${text.replace('"a":', '/* about a */ "a":').replace('"theme"', '// look\n  "theme"')}// last`
      : `# first\n${text}# last`,
  'a comma too many': (text, { format }) => (format === 'json' ? text.replace(/\n {2}\}/, ',\n  }') : text),
  'odd keys': (text, { format }) =>
    format === 'json'
      ? text.replace('"theme"', '"": 0, "a.b": 1, "\\u00e4\\n": 2, "__proto__x": 3, "theme"')
      : `"odd key" ${format === 'toml' ? '=' : ':'} 1\n${text}`,
  'other scripts': (text) => text.replaceAll('dark', '深い🙂').replaceAll('mine', 'моё 🙂'),
  'a name in another script': (text, { format }) =>
    format === 'toml' ? text : text.replaceAll(/b c|\bb\b(?=:)/g, 'мой'),
  'half of it': (text) => text.slice(0, text.length / 2),
  'a bracket too many': (text) => `${text}]}`,
  'bytes that are not UTF-8': (text) => Buffer.concat([Buffer.from(text), Buffer.from([0x23, 0xff, 0xfe, 0x0a])]),
  'UTF-16': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'an empty file': () => '',
  'only spaces': () => ' \n\n',
  'a zero byte': (text) => text.replace('dark', 'da\0rk').replace('mine', 'mi\0ne'),
  'a key that is there twice': (text, { format, key }) =>
    format === 'json'
      ? text.replace('"last"', `"${key[0]}": {}, "last"`)
      : `${text}\n${format === 'toml' ? '[mcp_servers.a]\ncommand = "z"' : `${key[0]}:\n  z: 1`}\n`,
  'a server that is there twice': (text, { format }) => (format === 'json' ? text.replace('"b c"', '"a"') : text),
  'something else in place of servers': (text, { format, key }) =>
    format === 'json'
      ? JSON.stringify({ [key[0]!]: 'none' })
      : format === 'toml'
        ? 'mcp_servers = 3\n'
        : `${key[0]}: none\n`,
  'an empty block': (_, { format, key }) =>
    format === 'json' ? `{ "x": 1, "${key[0]}": {} }` : format === 'toml' ? 'x = 1\n' : `x: 1\n${key[0]}:\ny: 2\n`,
  'no block': (_, { format }) => (format === 'json' ? '{ "x": 1 }' : format === 'toml' ? 'x = 1' : 'x: 1'),
  'a deep value': (text, { format }) =>
    format === 'json' ? text.replace('null', '['.repeat(50) + ']'.repeat(50)) : text,
  'a far too deep value': (text, { format }) =>
    format === 'json' ? text.replace('null', '['.repeat(20_000) + ']'.repeat(20_000)) : text,
  'braces of YAML and TOML': (text, { format, container }) =>
    format === 'toml'
      ? 'x = 1\n[mcp_servers]\na = { command = "npx", args = ["a"] }\nb.url = "https://b.example/mcp"\n[y]\nz = 1\n'
      : format === 'yaml' && container !== 'list'
        ? 'extensions: {a: {type: stdio, name: a, cmd: npx, args: [a], enabled: true}}\nz: 1\n'
        : format === 'yaml'
          ? 'mcpServers: [{name: a, command: npx, args: [a]}]\nz: 1\n'
          : text,
  'servers that stay': (text, { format }) =>
    format === 'json' ? text.replace('"npx"', '"./here"').replace('["./here"', '["${input:x}"') : text,
  'long lines': (text, { format }) =>
    format === 'json'
      ? text.replace('"dark"', JSON.stringify('x'.repeat(100_000)))
      : `${text}# ${'x'.repeat(100_000)}\n`,
};

/** Clients that write differently. */
const CLIENTS = ['cursor', 'codex', 'goose', 'continue', 'zed', 'opencode', 'vscode', 'amp'];
const CASES = CLIENTS.flatMap((id) => Object.keys(CHANGES).map((change) => [id, change] as const));

function write(client: ClientSpec, content: string | Buffer): string {
  const path = userPaths(client, environment).at(-1)!;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

function connect(client: ClientSpec): ClientPlan {
  const plan = planClient(placeOf(client, environment)!, LAUNCH, environment);
  const path = ownConfigPath(environment);
  const wanted = plan.moved.map(({ name, server }) => ({ name, server, from: client.id }));
  const after = Buffer.from(addToOwnConfig({ path, text: undefined }, wanted).text);
  expect(applyPlans({ own: { path, before: undefined, after }, clients: [plan] }, environment).size).toBe(0);
  return plan;
}

const undo = (): number => undoConnect({ clients: [], isDryRun: false, environment }, silent);
const clientOf = (id: string): ClientSpec => clientTable().find((one) => one.id === id)!;

describe('the corpus of client files', () => {
  it('the corpus of client files has more than 200 files, and most of them can be changed', () => {
    expect(CASES.length).toBeGreaterThan(200);
    let changed = 0;
    for (const [id, change] of CASES) {
      const client = clientOf(id);
      write(client, CHANGES[change]!(seed(client), client));
      try {
        if (planClient(placeOf(client, environment)!, LAUNCH, environment).moved.length > 0) changed++;
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(UneditableFile);
      }
    }
    expect(changed).toBeGreaterThan(120);
  });

  it.each(CASES)('a file of %s with %s survives connect and undo', (id, change) => {
    const client = clientOf(id);
    const content = Buffer.from(CHANGES[change]!(seed(client), client) as string);
    const path = write(client, content);
    let plan: ClientPlan;
    try {
      plan = connect(client);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(UneditableFile);
      expect(readFileSync(path).equals(content)).toBe(true);
      return;
    }
    const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    const again = planClient(placeOf(client, environment)!, LAUNCH, environment);
    expect([again.moved, again.text === again.changed]).toEqual([[], true]);
    expect(Object.keys(readClientText(text, client.format))).toContain(client.key[0]);
    expect(text).toContain('/opt/cli/main.js');
    expect(text.includes('\r\n')).toBe(plan.text.includes('\r\n'));
    expect(undo()).toBe(0);
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(readdirSync(dirname(path)).filter((name) => name.includes('parley-'))).toEqual([]);
    expect(readdirSync(dirname(ownConfigPath(environment)))).toEqual([]);
  });

  it.each(clientTable().filter(({ readOnly }) => !readOnly))(
    'the file of $id survives connect and undo where macOS has it',
    (client) => {
      environment = { ...environment, platform: 'darwin' };
      const path = write(client, seed(client));
      const place = placeOf(client, environment)!;
      expect([place.path, place.exists]).toEqual([path, true]);
      expect(connect(client).moved.length).toBeGreaterThan(0);
      expect(readFileSync(path, 'utf8')).toContain('/opt/cli/main.js');
      expect(undo()).toBe(0);
      expect(readFileSync(path, 'utf8')).toBe(seed(client));
    },
  );
});
