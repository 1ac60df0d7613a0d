// Names and rules with servers and clients of the official SDK: a name always leads to the same server, and a rule applies to a
// tool under every name and at every path.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions, Step } from '../../../src/_entries/index.ts';
import {
  approve,
  defaults,
  describe as describing,
  filter,
  fixed,
  prefix,
  rename,
  timeout,
} from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';
import { until } from '../../helpers/until.ts';

const SERVERS = join(ROOT, 'tests', 'peers', 'borders', 'servers');
const BIN = join(ROOT, 'tests', 'peers', 'node_modules', '.bin');
const folder = mkdtempSync(join(tmpdir(), 'parley-names-'));

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** An SDK server with these tools; with `late` it does not answer before `come` is called. */
function named(
  name: string,
  tools: string[],
  more: { late?: boolean; v2?: boolean; env?: Record<string, string> } = {},
) {
  const gate = join(folder, `${name}-${Math.random().toString(36).slice(2)}`);
  const program = join(SERVERS, more.v2 ? 'named-v2.mjs' : 'named-v1.mjs');
  const env = { NAME: name, TOOLS: tools.join(','), ...(more.late && { GATE: gate }), ...more.env };
  return { address: { command: process.execPath, args: [program], env }, come: () => writeFileSync(gate, '') };
}

function memory(file: string) {
  return { command: join(BIN, 'mcp-server-memory'), env: { MEMORY_FILE_PATH: join(folder, `${file}.jsonl`) } };
}

async function serve(options: GatewayOptions): Promise<string> {
  const gateway = createGateway({ log: createLog({ level: 'silent' }), ask: { channels: [] }, ...options });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

interface Peer {
  names(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<string>;
}

async function v1(url: string): Promise<Peer> {
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => said(() => client.callTool({ name, arguments: args })),
  };
}

async function v2(url: string): Promise<Peer> {
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new TransportV2(new URL(url)));
  open.push(() => client.close());
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => said(() => client.callTool({ name, arguments: args })),
  };
}

/** What came of a call, in words. */
async function said(call: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await call());
  } catch (thrown) {
    return `refused: ${(thrown as Error).message}`;
  }
}

describe('with two servers of which one is late', () => {
  const deploys = ['deploy'];

  test.each(['always', 'on-collision'] as const)('no name leads to another server (%s)', async (names) => {
    for (const late of ['staging', 'production']) {
      const staging = named('staging', deploys, { late: late === 'staging' });
      const production = named('production', deploys, { late: late === 'production', v2: true });
      const url = await serve({
        servers: { staging: staging.address, production: production.address },
        names,
        startMs: 500,
      });
      const client = await v1(url);
      const before = await client.call('deploy');
      const shown = await client.names();
      for (const name of shown.filter((one) => one.endsWith('__deploy'))) {
        expect(await client.call(name)).toContain(`deploy of ${name.split('__')[0]}`);
      }
      (late === 'staging' ? staging : production).come();
      await until('both to be listed', async () => (await client.names()).length === 2);
      const after = await client.call('deploy');
      expect(await client.names()).toEqual(
        names === 'always' ? ['staging__deploy', 'production__deploy'] : ['deploy', 'production__deploy'],
      );
      if (names === 'always') expect([before, after].every((one) => one.startsWith('refused'))).toBe(true);
      // Without the earlier server nobody can say whose the bare name is: it leads to staging or nowhere.
      else
        expect([before.includes('deploy of production'), after]).toEqual([
          false,
          expect.stringContaining('deploy of staging'),
        ]);
      expect(await client.call('production__deploy')).toContain('deploy of production');
      expect(await client.call('staging__deploy')).toContain('deploy of staging');
    }
  });

  test('a server alone has bare names, and is understood by its qualified ones', async () => {
    const url = await serve({ servers: { one: named('one', deploys).address } });
    for (const client of [await v1(url), await v2(url)]) {
      expect(await client.names()).toEqual(['deploy']);
      expect(await client.call('deploy')).toContain('deploy of one');
      expect(await client.call('one__deploy')).toContain('deploy of one');
    }
  });
});

describe('two memory servers', () => {
  test('a deny rule holds for both of them, by every name and at every path', async () => {
    const steps = [filter({ deny: ['delete_*'] })];
    const servers = { memory: memory('one'), memory2: memory('two') };
    const url = await serve({ servers, steps, groups: { both: ['memory', 'memory2'] } });
    const entities = { entityNames: ['nobody'] };
    for (const path of ['', '/both', '/memory', '/memory2']) {
      for (const connect of [v1, v2]) {
        const client = await connect(`${url}${path}`);
        const names = await client.names();
        expect(names.length).toBeGreaterThan(0);
        expect(names.filter((name) => name.includes('delete'))).toEqual([]);
        for (const name of ['delete_entities', 'memory__delete_entities', 'memory2__delete_entities']) {
          expect(await client.call(name, entities), `${path} ${name}`).toMatch(/refused: .*Unknown tool/);
        }
      }
    }
  });

  test('an approval by glob is asked for both of them', async () => {
    const servers = { memory: memory('three'), memory2: memory('four') };
    const url = await serve({ servers, steps: [approve({ when: ['delete_*'] })], ask: { channels: [] } });
    const client = await v1(url);
    for (const name of ['memory__delete_entities', 'memory2__delete_entities']) {
      expect(await client.call(name, { entityNames: ['x'] })).not.toContain('deleted successfully');
    }
    expect(await client.call('memory2__read_graph')).toContain('entities');
  });
});

describe('rules by the name of a server', () => {
  const two = (tools: string[]) => ({ one: named('one', tools).address, two: named('two', tools).address });
  const at = async (url: string, path: string) => v1(`${url}${path}`);

  test('hold where the tool has a bare name, too', async () => {
    const steps = [filter({ deny: ['two__remove'] }), fixed({ two__echo: { who: 'me' } })];
    const url = await serve({ servers: two(['remove', 'echo']), steps });
    const alone = await at(url, '/two');
    expect(await alone.names()).toEqual(['echo']);
    expect(await alone.call('remove')).toContain('Unknown tool');
    expect(await alone.call('two__remove')).toContain('Unknown tool');
    expect(await alone.call('echo', { who: 'victim' })).toContain('"who\\":\\"me');
    const all = await at(url, '');
    expect(await all.names()).toEqual(['one__remove', 'one__echo', 'two__echo']);
    expect(await all.call('echo', { who: 'victim' })).toContain('Unknown tool');
    expect(await all.call('two__echo', { who: 'victim' })).toContain('"who\\":\\"me');
    expect(await all.call('one__echo', { who: 'victim' })).toContain('victim');
  });

  test('hold for long names, by the cut and by the whole one', async () => {
    const long = `remove_${'x'.repeat(70)}`;
    for (const deny of [`two__${long}`, long, 'remove_*', 'two__remove_*']) {
      const url = await serve({ servers: two([long, 'echo']), steps: [filter({ deny: [deny] })] });
      const client = await at(url, '');
      const left = (await client.names()).filter((name) => name.startsWith('two__'));
      expect(left, deny).toEqual(['two__echo']);
      expect(await client.call(`two__${long}`), deny).toContain('Unknown tool');
      expect(await (await at(url, '/two')).call(long), deny).toContain('Unknown tool');
    }
  });

  test('forbid without asking, in every spelling', async () => {
    const rule = { deny: ['two__remove'], ask: ['two__*'] };
    const url = await serve({ servers: two(['remove', 'echo']), steps: [approve({ when: rule })] });
    for (const path of ['', '/two']) {
      const client = await at(url, path);
      for (const spelling of [
        'remove',
        'two__remove',
        'TWO__remove',
        'two__Remove',
        ' two__remove',
        'two__remove\u200b',
        'two__re\u0301move',
      ]) {
        expect(await client.call(spelling), `${path} ${spelling}`).not.toContain('remove of two');
      }
    }
  });

  test('a server cannot use the permission of another server', async () => {
    const servers = {
      evil: named('evil', ['github__delete', 'look']).address,
      github: named('github', ['delete']).address,
    };
    const url = await serve({ servers, steps: [filter({ allow: ['github__*'] })] });
    expect(await (await at(url, '')).names()).toEqual(['github__delete']);
    expect(await (await at(url, '/evil')).names()).toEqual([]);
    expect(await (await at(url, '/evil')).call('github__delete')).toContain('Unknown tool');
    expect(await (await at(url, '')).call('github__delete')).toContain('delete of github');
  });

  test('rename and describe find a tool by its own name; what was renamed keeps its server in front', async () => {
    const steps: Step[] = [
      rename({ tools: { echo: 'say', two__remove: 'wipe' } }),
      describing({ tools: { echo: 'Says it' } }),
    ];
    const client = await at(await serve({ servers: two(['remove', 'echo']), steps }), '');
    expect(await client.names()).toEqual(['one__remove', 'one__say', 'wipe', 'two__say']);
    expect(await client.call('two__say', {})).toContain('echo of two');
    expect(await client.call('wipe')).toContain('remove of two');
    expect(await client.call('two__echo')).toContain('Unknown tool');
  });

  test('outside of steps that rename, a rule still finds a tool by its own name', async () => {
    const steps: Step[] = [
      filter({ deny: ['remove'] }),
      prefix('x_'),
      rename({ tools: { remove: 'wipe' } }),
      defaults({}),
    ];
    const client = await at(await serve({ servers: two(['remove', 'echo']), steps }), '');
    expect(await client.call('x_one__wipe')).toContain('Unknown tool');
    expect(await client.names()).toEqual(['x_one__echo', 'x_two__echo']);
  });

  test('servers whose names begin like those of others stay apart', async () => {
    const servers = { a: named('a', ['b__c']).address, a__b: named('a__b', ['c']).address };
    const url = await serve({ servers, steps: [filter({ deny: ['a__b__c'] })] });
    const client = await at(url, '');
    expect(await client.names()).toEqual([]); // the rule names both
    const free = await at(
      await serve({ servers: { a: named('a', ['b__c']).address, a__b: named('a__b', ['c']).address } }),
      '',
    );
    const [first, second] = await free.names();
    expect(await free.call(first)).toContain('b__c of a"');
    expect(await free.call(second)).toContain('c of a__b"');
  });
});

describe('rules that stand with a server', () => {
  test('hold for that server alone, by every name and at every path', async () => {
    const servers = {
      memory: { server: memory('five'), tools: { deny: ['delete_*'], approve: ['create_entities'] } },
      memory2: memory('six'),
      few: { server: memory('seven'), tools: { allow: ['read_graph'] } },
    };
    const url = await serve({ servers });
    const client = await v1(url);
    const names = await client.names();
    expect(names.filter((name) => name.includes('delete')).every((name) => name.startsWith('memory2__'))).toBe(true);
    expect(names.filter((name) => name.startsWith('few__'))).toEqual(['few__read_graph']);
    expect(await client.call('memory__delete_entities', { entityNames: ['x'] })).toContain('Unknown tool');
    expect(await client.call('memory2__delete_entities', { entityNames: ['x'] })).toContain('deleted successfully');
    expect(await client.call('memory__create_entities', { entities: [] })).toMatch(/not approved|cannot be asked/);
    expect(await client.call('memory2__create_entities', { entities: [] })).not.toMatch(/not approved|cannot be asked/);
    const alone = await v2(`${url}/memory`);
    expect(await alone.call('delete_entities', { entityNames: ['x'] })).toContain('Unknown tool');
    expect(await alone.call('memory__delete_entities', { entityNames: ['x'] })).toContain('Unknown tool');
    expect(await alone.call('create_entities', { entities: [] })).toMatch(/not approved|cannot be asked/);
    expect(await (await v1(`${url}/few`)).names()).toEqual(['read_graph']);
  });

  test('a call that two rules want approved is asked about once', async () => {
    const one = { server: named('one', ['remove']).address, tools: { approve: 'always' } };
    const url = await serve({ servers: { one }, steps: [approve({ when: 'always' })], ask: { trust: 'all' } });
    const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } });
    let asked = 0;
    client.setRequestHandler(ElicitRequestSchema, () => {
      asked++;
      return { action: 'accept', content: { approve: true } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    open.push(() => client.close());
    expect(JSON.stringify(await client.callTool({ name: 'remove' }))).toContain('remove of one');
    expect(asked).toBe(1);
  });

  test('a rule that matches nothing is reported in the log, once, with its step and its server', async () => {
    const { log, unmatched } = recording();
    const one = {
      server: named('one', ['echo', 'drop_all']).address,
      tools: { allow: ['echo', 'drop_*'], deny: ['wipe_*', 'remove'], approve: ['erase'] },
    };
    const two = { server: named('two', ['echo', 'remove']).address, tools: { deny: ['drop_all'] } };
    const steps = [
      filter({ deny: ['delte_*', 'parley_*', 'big_one__echo'], tools: { deny: ['one__eco'] } }),
      prefix({ prefix: 'big_', only: ['*echo', 'prompts_*'] }),
      fixed({ echoo: { a: 1 }, echo: { a: 1 }, two__echo: { a: 2 }, 'x_*': {} }),
      rename({ tools: { remove: 'two_remove', remov: 'other' } }),
      approve({ when: ['remove', 'delete_*'] }),
      timeout({ ms: 1000, only: ['slow_*'] }),
    ];
    const client = await v1(await serve({ servers: { one, two }, steps, log }));
    await client.names();
    const expected = [
      '- one erase: it matches no tool of this server',
      '- one remove: it matches no tool of this server',
      '- one wipe_*: it matches no tool of this server',
      '- two drop_all: it matches no tool of this server',
      'approve - delete_*: it matches no tool of any server',
      'filter - delte_*: it matches no tool, prompt or resource of any server',
      'filter - one__eco: it matches no tool of any server',
      'fixed - echoo: it matches no tool of any server',
      'fixed - x_*: it matches no tool of any server',
      'prefix - prompts_*: it matches no tool, prompt or resource of any server',
      'rename - remov: it matches no tool of any server',
      'timeout - slow_*: it matches no tool, prompt or resource of any server',
    ];
    await until('the report', () => unmatched().length >= expected.length);
    await client.names();
    expect(unmatched().toSorted()).toEqual(expected);
  });

  test('rules that match a prompt or a resource, or a name that an inner step has made, are not reported', async () => {
    const { log, unmatched } = recording();
    const everything = { command: join(BIN, 'mcp-server-everything'), args: ['stdio'] };
    const steps = [
      filter({ tools: { deny: ['my_echo'] } }),
      filter({ deny: ['*prompt', 'demo://resource/static/*', 'file:///etc/*'] }),
      rename({ tools: { echo: 'my_echo' } }),
      fixed({ 'get-sumx': { a: 1 } }),
    ];
    const client = await v1(await serve({ servers: { everything }, steps, log }));
    expect(await client.names()).not.toContain('my_echo');
    await until('the report', () => unmatched().length > 0);
    expect(unmatched()).toEqual(['fixed - get-sumx: it matches no tool of any server']);
  });

  test('a rule is not reported before the server it is about has listed its tools', async () => {
    const { log, unmatched } = recording();
    const one = named('one', ['echo'], { late: true });
    const broken = { command: join(folder, 'not-there') };
    const client = await v1(
      await serve({
        servers: { one: one.address, broken },
        steps: [fixed({ echo: { a: 1 }, eco: { a: 1 } })],
        startMs: 300,
        log,
      }),
    );
    await client.names();
    expect(unmatched()).toEqual([]);
    one.come();
    await until('the report', async () => {
      await client.names();
      return unmatched().length > 0;
    });
    expect(unmatched()).toEqual(['fixed - eco: it matches no tool of any server']);
  });
});

/** A log, and what it has of rules that match nothing. */
function recording() {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', write: (line) => lines.push(line) });
  const unmatched = (): string[] =>
    lines
      .map((line) => JSON.parse(line) as Record<string, string | undefined>)
      .filter(({ event }) => event === 'rule.unmatched')
      .map(({ step = '-', server = '-', rule, reason }) => `${step} ${server} ${rule}: ${reason}`);
  return { log, unmatched };
}
