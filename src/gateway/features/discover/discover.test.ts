import { describe, expect, it } from 'vitest';
import { toGatewayTool } from '../../../kernel/gateway-tool.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { parseExactly, writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Handle } from '../../../kernel/target.ts';
import type { Step, StepFunction } from '../../../kernel/step.ts';
import { FakeExchange, chainOf, serverOf } from '../../../kernel/fake-exchange.contract.ts';
import { discover } from './discover.ts';
import type { DiscoverOptions } from './discover.ts';

const TOOLS = [
  {
    name: 'github__create_issue',
    description: 'Creates an issue in a repository. Needs write access. It says more.',
    inputSchema: { type: 'object', properties: { title: { type: 'string' }, body: { type: 'string' } } },
    outputSchema: { type: 'object' },
  },
  { name: 'github__listIssues', description: 'Lists the issues of a repository', inputSchema: { type: 'object' } },
  { name: 'files__read_file', description: 'Reads a file from the disk', inputSchema: { type: 'object' } },
  { name: 'files__delete_file', description: 'Removes a file', inputSchema: { type: 'object' } },
  { name: '天気__予報', description: '都市の天気予報を返します', inputSchema: { type: 'object' } },
];

interface Asked {
  client?: string;
  steps?: (Step | StepFunction)[];
  server?: Handle;
}

/** Calls as a client of this name would make them. */
function clientOf(
  options: DiscoverOptions,
  { client = 'cursor', steps = [], server = serverOf({ tools: TOOLS }) }: Asked = {},
) {
  const call = chainOf([...steps, discover(options)], server);
  const view = { info: { name: client, version: '1' }, connection: { transport: 'http' as const } };
  const send = (method: string, params: JsonObject = {}) => call(new FakeExchange(method, params, view));
  return {
    send,
    list: async (): Promise<JsonObject[]> => {
      const all: JsonObject[] = [];
      let cursor: unknown;
      do {
        const page = await send('tools/list', cursor === undefined ? {} : { cursor });
        all.push(...(page.tools as JsonObject[]));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return all;
    },
    callTool: (name: string, args?: JsonObject) =>
      send('tools/call', { name, ...(args && { arguments: args }), _meta: { kept: 1 } }),
  };
}

const namesOf = (tools: JsonObject[]): unknown[] => tools.map(({ name }) => name);
const textOf = ({ content }: JsonObject): string => (content as { text: string }[])[0]!.text;

/** What a search found, as names. */
async function found(options: DiscoverOptions, args: JsonObject): Promise<unknown[]> {
  const text = textOf(await clientOf({ mode: 'search', ...options }).callTool('find_tools', args));
  return namesOf((JSON.parse(text) as { tools: JsonObject[] }).tools);
}

describe('discover with mode "search"', () => {
  it('lists two tools of its own and those of "always", in the same order and bytes each time, before and after a search', async () => {
    const client = clientOf({ mode: 'search', always: ['files__read*'] });
    const before = JSON.stringify(await client.list());
    expect(namesOf(JSON.parse(before) as JsonObject[])).toEqual(['find_tools', 'call_tool', 'files__read_file']);
    await client.callTool('find_tools', { query: 'issue' });
    expect(JSON.stringify(await client.list())).toBe(before);
  });

  it('finds tools by their words, the best first, and returns what a model needs to call them', async () => {
    expect(await found({}, { query: 'create a GitHub issue' })).toEqual(['github__create_issue', 'github__listIssues']);
    expect((await found({}, { query: 'list issues' }))[0]).toBe('github__listIssues');
    expect(await found({}, { query: 'the title of something' })).toEqual(['github__create_issue']);
    expect((await found({}, { query: 'delte file' }))[0]).toBe('files__delete_file');
    expect(await found({}, { query: '天気' })).toEqual(['天気__予報']);
    const text = textOf(await clientOf({ mode: 'search' }).callTool('find_tools', { query: 'create issue', limit: 1 }));
    const { outputSchema: _, ...shown } = TOOLS[0]!;
    expect(JSON.parse(text)).toEqual({ tools: [shown], searched: 5 });
  });

  it('words that are everywhere find nothing, and what fits nothing says what to do', async () => {
    for (const query of ['a', 'the of and', 'xylophone']) {
      const result = await clientOf({ mode: 'search' }).callTool('find_tools', { query });
      expect(textOf(result)).toBe('None of the 5 tools fits. Try other words, or the name of a service.');
      expect(result.isError).toBeUndefined();
    }
  });

  it('returns at most ten tools, whatever a model asks for', async () => {
    const tools = Array.from({ length: 300 }, (_, index) => ({ name: `shelf_${index}`, description: 'A shelf' }));
    const client = clientOf({ mode: 'search', results: 10 }, { server: serverOf({ tools }) });
    const some = async (args: JsonObject) =>
      (JSON.parse(textOf(await client.callTool('find_tools', args))) as { tools: [] }).tools.length;
    expect(await some({ query: 'shelf' })).toBe(10);
    expect(await some({ query: 'shelf', limit: 300 })).toBe(10);
    expect(await some({ query: 'shelf', limit: 2 })).toBe(2);
  });

  it('gives the same bytes for the same search, and numbers of schemas as their server sent them', async () => {
    const [tool] = parseExactly(
      '[{"name":"pay","description":"Pays","inputSchema":{"maximum":12345678901234567890}}]',
    ) as JsonObject[];
    const client = clientOf({ mode: 'search' }, { server: serverOf({ tools: [tool!, ...TOOLS] }) });
    const once = writeExactly(await client.callTool('find_tools', { query: 'pays' }));
    expect(once).toContain('12345678901234567890');
    expect(writeExactly(await client.callTool('find_tools', { query: 'pays' }))).toBe(once);
  });

  it('a call of call_tool is the call of that tool, for the server and for steps that stand outside of it, twice', async () => {
    const seen: unknown[] = [];
    const guard: StepFunction = (exchange, next) => {
      if (exchange.method === 'tools/call') seen.push(exchange.params.name);
      if (exchange.params.name === 'files__delete_file') throw new GatewayError('ACCESS_DENIED', { uri: 'files' });
      return next();
    };
    const client = clientOf({ mode: 'search' }, { steps: [guard] });
    const call = { name: 'files__read_file', arguments: { path: 'a' } };
    const result = { method: 'tools/call', params: { ...call, _meta: { kept: 1 } } };
    expect(await client.callTool('call_tool', call)).toEqual(result);
    expect(await client.callTool('call_tool', call)).toEqual(result);
    expect(await client.callTool('call_tool', { name: 'files__read_file' })).toMatchObject({
      params: { arguments: {} },
    });
    await expect(client.callTool('call_tool', { name: 'files__delete_file' })).rejects.toThrow(GatewayError);
    expect(seen).toEqual(['files__read_file', 'files__read_file', 'files__read_file', 'files__delete_file']);
  });

  it('a tool that is listed can be called by its own name, and so can one that was found', async () => {
    const client = clientOf({ mode: 'search', always: ['files__read_file'] });
    expect(await client.callTool('files__read_file')).toMatchObject({ params: { name: 'files__read_file' } });
    expect(await client.callTool('github__listIssues')).toMatchObject({ params: { name: 'github__listIssues' } });
  });

  it('tells a model what is wrong with its search or call, as a result that it can read', async () => {
    const client = clientOf({ mode: 'search' });
    const wrong: [string, JsonObject | undefined, string][] = [
      ['find_tools', undefined, '"query" is missing'],
      ['find_tools', { query: '  ' }, '"query" is missing'],
      ['find_tools', { query: 7 }, '"query" is missing'],
      ['find_tools', { query: 'file', limit: 0 }, '"limit" must be'],
      ['find_tools', { query: 'file', limit: 'all' }, '"limit" must be'],
      ['call_tool', undefined, '"name" is missing'],
      ['call_tool', { name: 7 }, '"name" is missing'],
      ['call_tool', { name: 'x', arguments: '{}' }, '"arguments" must be an object'],
    ];
    for (const [tool, args, text] of wrong) {
      const result = await client.callTool(tool, args);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain(text);
    }
  });

  it('a name that no server knows is a result that says how to find it', async () => {
    const server: Handle = ({ params }) => {
      throw new GatewayError('TOOL_NOT_FOUND', { name: String(params.name) });
    };
    const client = clientOf({ mode: 'search' }, { server });
    expect(await client.callTool('call_tool', { name: 'made_up' })).toMatchObject({ isError: true });
    expect(await client.callTool('call_tool', { name: 'call_tool' })).toMatchObject({ isError: true });
    await expect(client.callTool('made_up')).rejects.toThrow(GatewayError);
  });

  it('the tools of the gateway itself stay listed and are not searched', async () => {
    const own = toGatewayTool({ name: 'parley_answer', description: 'Answers a file question' });
    const client = clientOf({ mode: 'search' }, { server: serverOf({ tools: [...TOOLS, own] }) });
    expect(namesOf(await client.list())).toContain('parley_answer');
    expect(textOf(await client.callTool('find_tools', { query: 'answers' }))).toContain('None of the 5 tools fits');
  });

  it('endless queries and descriptions are cut before they are searched', async () => {
    const tools = [{ name: 'long', description: 'word '.repeat(500_000) }, ...TOOLS];
    const client = clientOf({ mode: 'search' }, { server: serverOf({ tools }) });
    const result = await client.callTool('find_tools', { query: `issue ${'x '.repeat(1_000_000)}` });
    expect(textOf(result)).toContain('github__');
  });
});

describe('discover with other modes', () => {
  it('compact shows the first sentence of each description, and schemas and names as they are', async () => {
    const [first, ...rest] = await clientOf({ mode: 'compact' }).list();
    expect(first).toEqual({ ...TOOLS[0], description: 'Creates an issue in a repository.' });
    expect(rest).toEqual(TOOLS.slice(1));
    const long = [
      { name: 'a', description: `${'word '.repeat(100)}end. More.` },
      { name: 'b', description: 'x'.repeat(500) },
      { name: 'c', description: 7 },
    ];
    const short = await clientOf({ mode: 'compact' }, { server: serverOf({ tools: long }) }).list();
    expect(String(short[0]!.description)).toMatch(/^word .*word…$/);
    expect(short.every(({ description }) => String(description).length <= 160)).toBe(true);
  });

  it('hints say by which words a tool is found, and what to load at once, but not where the server says so', async () => {
    const own = { name: 'notes__own', _meta: { 'anthropic/searchHint': 'mine', other: 1 } };
    const options: DiscoverOptions = {
      mode: 'hints',
      always: ['files__read*'],
      hints: { '*delete*': 'remove, trash' },
    };
    const tools = await clientOf(options, { server: serverOf({ tools: [...TOOLS, own] }) }).list();
    const metas = Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]));
    expect(metas).toEqual({
      github__create_issue: { 'anthropic/searchHint': 'github create issue' },
      github__listIssues: { 'anthropic/searchHint': 'github list issues' },
      files__read_file: { 'anthropic/searchHint': 'files read file', 'anthropic/alwaysLoad': true },
      files__delete_file: { 'anthropic/searchHint': 'remove, trash' },
      天気__予報: { 'anthropic/searchHint': '天気 予報' },
      notes__own: { 'anthropic/searchHint': 'mine', other: 1 },
    });
  });

  it('each client gets the mode of the first glob that fits its name, and calls pass unchanged in all but "search"', async () => {
    const options: DiscoverOptions = {
      mode: 'search',
      clients: { 'claude-code*': 'hints', claude: 'all', '*code': 'compact' },
    };
    const sizes = async (client: string) => (await clientOf(options, { client }).list()).length;
    expect(await sizes('claude-code')).toBe(5);
    expect(await sizes('claude')).toBe(5);
    expect(await sizes('zencode')).toBe(5);
    expect(await sizes('cursor')).toBe(2);
    for (const client of ['claude-code', 'claude', 'zencode']) {
      expect(await clientOf(options, { client }).callTool('call_tool', { name: 'x' })).toMatchObject({
        params: { name: 'call_tool' },
      });
    }
  });

  it('the commands of Parley and the gateway itself see every tool', async () => {
    expect(await clientOf({ mode: 'search' }, { client: 'parley' }).list()).toHaveLength(5);
    expect(await clientOf({ mode: 'search', clients: { parley: 'search' } }, { client: 'parley' }).list()).toHaveLength(
      2,
    );
    const itself = chainOf([discover({ mode: 'search' })], serverOf({ tools: TOOLS.slice(0, 2) }));
    expect((await itself('tools/list')).tools).toHaveLength(2);
  });

  it('refuses modes, globs and numbers that cannot be', () => {
    const wrong = [
      { mode: 'find' },
      { clients: { x: 'find' } },
      { results: 0 },
      { results: 11 },
      { hints: { x: 1 } },
      { always: 'x' },
    ];
    for (const options of wrong)
      expect(() => discover(options as DiscoverOptions), JSON.stringify(options)).toThrow(GatewayError);
  });
});
