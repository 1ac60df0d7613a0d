// What a person does to add or remove something, as edits of the tree: files that are written, texts that are inserted before others, folders and
// lines that go.

import { DELETIONS } from './deletions.mjs';

const FEATURES = 'src/gateway/features';

export const PROOFS = [
  {
    name: 'add a step',
    most: 4,
    write: {
      [`${FEATURES}/whisper/whisper.ts`]: `// Says everything in lower case.
import type { Step } from '../../../kernel/step.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';
import { withDefaults } from '../../chain/step-options.ts';
import { respond } from '../../chain/outcome.ts';

export function whisper(options: { isOn?: boolean | undefined } = {}): Step {
  const { isOn } = withDefaults('whisper', options, { isOn: true });
  return {
    name: 'whisper',
    methods: [CALL_TOOL],
    async handle(_exchange, next) {
      const outcome = await next();
      return isOn ? respond(JSON.parse(JSON.stringify(outcome.result).toLowerCase())) : outcome;
    },
  };
}
`,
    },
    insert: [
      [`${FEATURES}/step-order.ts`, 'import { timeout }', "import { whisper } from './whisper/whisper.ts';\n"],
      [
        `${FEATURES}/step-order.ts`,
        '  builtIn(timeout,',
        "  builtIn(whisper, 'as near to the server as it can be'),\n",
      ],
      [
        'src/_entries/middleware.ts',
        'export { timeout }',
        "export { whisper } from '../gateway/features/whisper/whisper.ts';\n",
      ],
    ],
  },
  {
    name: 'add a feature with a layer, a key of the configuration, a page, a metric and a command',
    most: 3,
    folder: `${FEATURES}/quiet`,
    write: {
      [`${FEATURES}/quiet/feature.ts`]: `// Refuses calls while it is quiet.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';
import { ObservedLayer } from '../../../kernel/target.ts';
import { defineFeature } from '../feature.ts';

export interface QuietOptions {
  /** Refuses all calls of tools. */
  quiet?: boolean | undefined;
}

export const quiet = defineFeature<QuietOptions>({
  name: 'quiet',
  create({ quiet: isQuiet = false }) {
    let refused = 0;
    return {
      layer: (next) =>
        new ObservedLayer(next, (exchange, handle) => {
          if (!isQuiet || exchange.method !== CALL_TOOL) return handle(exchange);
          refused++;
          throw new GatewayError('RATE_LIMITED', { what: 'quiet', rate: '0', limit: 'quiet', retryAfterMs: 1000 });
        }),
      pages: () => ({ '/quiet': (_request, response) => void response.writeHead(200).end(String(isQuiet)) }),
      metrics: () => [
        { name: 'quiet_total', help: 'Refused calls.', type: 'counter', samples: [{ labels: {}, value: refused }] },
      ],
      update(next: QuietOptions) {
        if ('quiet' in next) isQuiet = next.quiet ?? false;
        return undefined;
      },
    };
  },
});
`,
      [`${FEATURES}/quiet/config.ts`]: `import { defineKey } from '../../../kernel/config/config-key.ts';
import { flag } from '../../../kernel/config/shape.ts';

export const quietKey = defineKey({
  shape: flag('true: all calls of tools are refused. Default: false.'),
  normalize: (input) => input,
  apply: 'restart',
  quiet: [],
});
`,
      [`${FEATURES}/quiet/command.ts`]: `import { defineFeatureCommand, none } from '../../../kernel/command/command-spec.ts';
import { COMMON } from '../../../kernel/command/option.ts';

export const quietCommand = defineFeatureCommand({
  name: 'quiet',
  summary: 'say whether a configuration is quiet',
  usage: ['[--json]'],
  options: { json: COMMON.json },
  examples: { 'parley quiet': 'for the configuration of this folder' },
  read({ options, words }) {
    none(words, 'quiet');
    return options;
  },
  run: async (command, tools) => (await import('./run-quiet.ts')).runQuiet(command, tools),
});
`,
      [`${FEATURES}/quiet/run-quiet.ts`]: `import type { CommandTools } from '../../../kernel/command/command-tools.ts';

export async function runQuiet({ json }: { json: boolean }, { print }: CommandTools): Promise<number> {
  print.line(json ? '{"quiet":true}' : 'Be quiet.');
  return 0;
}
`,
      [`${FEATURES}/quiet/quiet.test.ts`]: `import { expect, it } from 'vitest';
import { readArgs } from '../../../cli/args/args.ts';
import { findFeatureCommand } from '../../../cli/args/commands.ts';
import { toHelp } from '../../../cli/args/help.ts';
import { createCommandTools } from '../../../cli/command-tools.ts';
import { createPrinter } from '../../../cli/terminal/print.ts';
import { normalizeConfig } from '../../../config/normalize-config.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createGateway } from '../../gateway.ts';

it('a feature that was added in one folder refuses, has its page, its metric and its key', async () => {
  const desk = createServer({ name: 'desk', version: '1' });
  desk.tool('say', {}, () => 'said');
  const { quiet } = normalizeConfig({ servers: {}, quiet: true }, '/') as { quiet?: boolean };
  const gateway = createGateway({ servers: { desk }, quiet, observe: { metrics: true } });
  const { port } = await gateway.listen({ port: 0 });
  const page = async (path: string) => (await fetch(\`http://127.0.0.1:\${port}\${path}\`)).text();
  await expect(gateway.callTool('desk__say')).resolves.toMatchObject({ content: [{ text: 'said' }] });
  const call = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const opened = await fetch(\`http://127.0.0.1:\${port}/mcp\`, { method: 'POST', headers, body: JSON.stringify(call) });
  const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id')! };
  await opened.text();
  const said = await fetch(\`http://127.0.0.1:\${port}/mcp\`, { method: 'POST', headers: session, body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'desk__say', arguments: {} } }) });
  expect(await said.text()).toContain('quiet');
  expect(await page('/quiet')).toBe('true');
  expect(await page('/metrics')).toContain('quiet_total 1');
  await gateway.close();
});

it('a command that was added in one folder is read, run and shown in the help', async () => {
  const out: string[] = [];
  const print = createPrinter({ out: { write: (text) => out.push(String(text)) } });
  const command = readArgs(['quiet', '--json']);
  await expect(findFeatureCommand(command.name)!.run(command, createCommandTools(print))).resolves.toBe(0);
  expect(out).toEqual(['{"quiet":true}\\n']);
  expect(readArgs(['quiet', 'x'])).toMatchObject({ name: 'mistake', of: 'quiet' });
  expect(toHelp(undefined)).toContain('say whether a configuration is quiet');
});
`,
    },
    insert: [
      [
        `${FEATURES}/index.ts`,
        'import { scopes }',
        "import { quiet } from './quiet/feature.ts';\nimport type { QuietOptions } from './quiet/feature.ts';\n",
      ],
      [`${FEATURES}/index.ts`, '  rate, //', '  quiet, // before anything else is asked\n'],
      [`${FEATURES}/index.ts`, '    RateFeatureOptions,', '    QuietOptions,\n'],
      [`${FEATURES}/config.ts`, 'import { rateKey', "import { quietKey } from './quiet/config.ts';\n"],
      [`${FEATURES}/config.ts`, 'export const FEATURE_KEYS = {', '', 'export const FEATURE_KEYS = { quiet: quietKey,'],
      [`${FEATURES}/commands.ts`, 'import { policyCommand', "import { quietCommand } from './quiet/command.ts';\n"],
      [`${FEATURES}/commands.ts`, '  policyCommand,', '  quietCommand, // whether it is quiet\n'],
    ],
    test: `${FEATURES}/quiet/quiet.test.ts`,
  },
  {
    name: 'add a method of the protocol',
    most: 5,
    write: {
      'src/gateway/made-up-method.test.ts': `import { expect, it } from 'vitest';
import type { AuditEvent } from '../kernel/audit.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { testGateway } from '../testing/test-gateway.ts';

function library(name: string) {
  const server = createServer({ name, version: '1' });
  for (const prompt of ['poem', 'secret']) server.prompt(prompt, {}, () => prompt);
  return server;
}

it('a made-up method with one row is routed by name, judged, rated and recorded like its kind', async () => {
  const events: AuditEvent[] = [];
  const servers = { one: library('one'), two: library('two') };
  const rules = [{ prompt: 'secret', effect: 'deny' as const }];
  await using tested = await testGateway({ servers, rules, rate: { perServer: '2/h' }, audit: (event) => events.push(event) });
  const preview = (name: string) => tested.client.request('prompts/preview', { name });
  expect(await preview('two__poem')).toMatchObject({ messages: [{ content: { text: 'poem' } }] });
  await expect(preview('two__secret')).rejects.toThrow('A rule of the gateway forbids');
  await preview('two__poem');
  await expect(preview('two__poem')).rejects.toThrow('2/h');
  expect(events.map(({ method, name, outcome }) => [method, name, outcome])).toEqual([
    ['prompts/preview', 'poem', 'ok'],
    ['prompts/preview', 'secret', 'FORBIDDEN_BY_RULE'],
    ['prompts/preview', 'poem', 'ok'],
    ['prompts/preview', 'poem', 'RATE_LIMITED'],
  ]);
});
`,
    },
    insert: [
      ['src/kernel/methods.ts', 'export const LIST_RESOURCES =', "export const PREVIEW_PROMPT = 'prompts/preview';\n"],
      ['src/mcp/eras/methods.ts', '  LIST_TOOLS,\n', '  PREVIEW_PROMPT,\n'],
      ['src/mcp/eras/methods.ts', '  TELL_CAPABILITIES, //', '  PREVIEW_PROMPT,\n'],
      [
        'src/kernel/methods.ts',
        '  [LIST_RESOURCES]: {',
        "  [PREVIEW_PROMPT]: { ...use, area: 'prompts', named: 'name', content: 'prompt', safe: true },\n",
      ],
      ['src/sdk/server/server.ts', '  READ_RESOURCE,\n', '  PREVIEW_PROMPT,\n'],
      [
        'src/sdk/server/server.ts',
        '        [GET_PROMPT]: (exchange)',
        '        [PREVIEW_PROMPT]: (exchange) => prompts.get(exchange),\n',
      ],
    ],
    test: 'src/gateway/made-up-method.test.ts',
  },
  {
    name: 'add a flow store',
    most: 6,
    write: {
      'src/flow/store/shelf/shelf.ts': `// Keeps sessions in memory, and counts those that it has made.
import type { Header, JournalEntry } from '../../journal.ts';
import { memoryStore } from '../memory/memory.ts';
import type { CreateResult, FlowStore, SessionLimits } from '../store.ts';

export interface ShelfOptions {
  name: string;
}

export async function createShelfStore({ name }: ShelfOptions): Promise<FlowStore & { made: number }> {
  const inner = memoryStore();
  const create = inner.create.bind(inner);
  const shelf = Object.assign(inner, { made: 0, name });
  shelf.create = async (header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult> => {
    const result = await create(header, entries, limits);
    if (result === 'ok') shelf.made++;
    return result;
  };
  return shelf;
}
`,
      'src/flow/store/shelf/shelf.test.ts': `import { expect, it } from 'vitest';
import { normalizeConfig } from '../../../config/normalize-config.ts';
import { createShelfStore } from '../../../_entries/flow.ts';
import { header, MANY, start } from '../store-samples.contract.ts';
import { isStoreUrl, openStoreUrl } from '../store-url.ts';
import { keepsTheContract } from '../store.contract.ts';

keepsTheContract('the shelf', async () => {
  const store = await createShelfStore({ name: 'test' });
  return { store, end: () => store.close() };
});

it('a store that was added has its URL on the command line and in the configuration', async () => {
  expect(isStoreUrl('shelf:attic')).toBe(true);
  const store = await openStoreUrl('shelf:attic');
  expect(store).toMatchObject({ made: 0, name: 'attic' });
  await store.create(header(), [start], MANY);
  expect(store).toMatchObject({ made: 1 });
  expect(normalizeConfig({ servers: {}, flows: { store: 'shelf:attic' } }, '/').flows?.store).toBe('shelf:attic');
});
`,
    },
    insert: [
      [
        'src/flow/store/store-url.ts',
        "  {\n    schemes: ['redis://', 'rediss://'],",
        `  {
    schemes: ['shelf:'],
    written: 'shelf:NAME',
    async open(_, name) {
      const { createShelfStore } = await import('./shelf/shelf.ts');
      return createShelfStore({ name });
    },
  },
`,
      ],
      [
        'src/_entries/flow.ts',
        'export { createRedisStore }',
        "export { createShelfStore } from '../flow/store/shelf/shelf.ts';\n",
      ],
    ],
    test: 'src/flow/store/shelf/shelf.test.ts',
  },
  {
    name: 'add a revision that removes one method and adds another',
    most: 1,
    folder: 'src/mcp/eras/made-up',
    write: {
      'src/mcp/eras/made-up/revisions.ts': `// A revision without sessions that has lost completion, and can say what a call would cost.
import { COMPLETE_ARGUMENT } from '../../../kernel/methods.ts';
import type { Revision } from '../era.ts';
import { JULY_2026 } from '../stateless/revisions.ts';

const kept = [...JULY_2026.methods].filter((method) => method !== COMPLETE_ARGUMENT);

export const MADE_UP: Revision = {
  ...JULY_2026,
  name: '2027-01-01',
  methods: new Set([...kept, 'tools/estimate']),
};
`,
      'src/mcp/eras/made-up/revisions.test.ts': `import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../../gateway/gateway.ts';
import { connect } from '../../../sdk/client/connect.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { ALL_REVISIONS } from '../revisions.ts';

const REVISION = '2027-01-01';
const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** Speaks this revision and no other. */
function createFarServer() {
  const heard: string[] = [];
  const info = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const tool = { name: 'dig', inputSchema: { type: 'object' } };
  const results: Record<string, object> = {
    'server/discover': { ...info, supportedVersions: [REVISION], capabilities: { tools: {} } },
    'tools/list': { ...info, tools: [tool] },
    'tools/call': { resultType: 'complete', content: [{ type: 'text', text: 'dug' }] },
    'tools/estimate': { resultType: 'complete', cost: 3 },
  };
  const server = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body);
    const version = params?._meta?.[VERSION];
    heard.push(version + ' ' + method);
    const isSpoken = version === REVISION && request.headers['mcp-protocol-version'] === REVISION;
    const result = isSpoken ? results[method] : undefined;
    const refused = isSpoken
      ? { code: -32601, message: 'Method not found' }
      : { code: -32022, message: 'Unsupported protocol version', data: { supported: [REVISION], requested: version } };
    response.writeHead(result ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: refused }) }));
  });
  return { server, heard };
}

const far = createFarServer();
const near = createServer({ name: 'near', version: '1', revisions: [REVISION] });
near.tool('add', {}, () => 'added');
let gateway: ReturnType<typeof createGateway>;
let url: string;
let nearUrl: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => far.server.listen(0, '127.0.0.1', resolve));
  const { port } = far.server.address() as AddressInfo;
  ({ url: nearUrl } = await near.listen({ port: 0 }));
  gateway = createGateway({ servers: { far: { url: \`http://127.0.0.1:\${port}/mcp\` }, near: { url: nearUrl } } });
  ({ url } = await gateway.listen({ port: 0 }));
});

afterAll(async () => {
  await gateway.close();
  await near.close();
  far.server.closeAllConnections();
  far.server.close();
});

describe('a revision that was added in one folder', () => {
  it('is in the list of what is spoken', () => expect(ALL_REVISIONS).toContain(REVISION));

  it('is what a client and two servers of it speak through the gateway', async () => {
    await using client = await connect(url, { revision: REVISION });
    expect(client.server.revision).toBe(REVISION);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['far__dig', 'near__add']);
    await expect(client.callTool('far__dig')).resolves.toMatchObject({ content: [{ text: 'dug' }] });
    await expect(client.callTool('near__add')).resolves.toMatchObject({ content: [{ text: 'added' }] });
    expect(new Set(far.heard.map((one) => one.split(' ')[0]))).toEqual(new Set([REVISION]));
  });

  it('has its new method, which clients of other revisions do not have', async () => {
    await using client = await connect(url, { revision: REVISION });
    await expect(client.request('tools/estimate', { name: 'dig' })).resolves.toMatchObject({ cost: 3 });
    for (const revision of ['2026-07-28', '2025-11-25']) {
      await using older = await connect(url, { revision });
      await expect(older.request('tools/estimate', { name: 'dig' })).rejects.toMatchObject({ code: -32601 });
      await expect(older.callTool('far__dig')).resolves.toMatchObject({ content: [{ text: 'dug' }] });
    }
  });

  it('lacks the method that it has removed, towards clients and servers', async () => {
    await using client = await connect(url, { revision: REVISION });
    const question = { ref: { type: 'ref/prompt', name: 'far__p' }, argument: { name: 'a', value: '' } };
    await expect(client.request('completion/complete', question)).rejects.toMatchObject({ code: -32601 });
    await using direct = await connect(nearUrl, { revision: REVISION });
    await expect(direct.request('completion/complete', question)).rejects.toMatchObject({ code: -32601 });
    expect(far.heard.filter((one) => one.includes('completion'))).toEqual([]);
  });

  it('is agreed on where a client could speak older ones, and not where the server cannot', async () => {
    await using client = await connect(url);
    expect(client.server.revision).toBe(REVISION);
    const old = createServer({ name: 'old', version: '1', revisions: ['2026-07-28'] });
    const { url: oldUrl } = await old.listen({ port: 0 });
    await using other = await connect(oldUrl);
    expect(other.server.revision).toBe('2026-07-28');
    await expect(connect(oldUrl, { revision: REVISION })).rejects.toThrow('no revision in common');
    await old.close();
  });
});
`,
    },
    insert: [
      ['src/mcp/eras/list.ts', 'import { JULY_2026 }', "import { MADE_UP } from './made-up/revisions.ts';\n"],
      ['src/mcp/eras/list.ts', '  DRAFT,', '  MADE_UP, // of a test\n'],
    ],
    test: 'src/mcp/eras/made-up/revisions.test.ts',
  },
  ...DELETIONS,
];
