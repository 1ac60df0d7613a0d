// What the page Access shows and does: no secret, the judgement that real calls get, and browsers that are taken away.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../../kernel/base/log.ts';
import { createServer } from '../../../../sdk/server/create-server.ts';
import { Paired, clientOf, closing, start } from '../paired-browser.contract.ts';
import type { AccessView, WhatIfView } from '../views.ts';

const log = createLog({ level: 'silent' });
const keyOf = (name: string) => name.repeat(40).slice(0, 40);
const KEYS = [
  { name: 'ops', key: keyOf('ops'), scopes: ['admin', 'mcp', 'write'] },
  { name: 'ci', user: 'robot', key: keyOf('ci'), scopes: ['mcp'], groups: ['machines'] },
  { name: 'ann', key: keyOf('ann'), scopes: ['mcp', 'write'], expires: '2099-01-01' },
];
const RULES = [
  { tool: 'read', when: 'args.path.startsWith("/etc")', effect: 'deny' },
  { principal: 'key:ci', tool: 'peek', effect: 'hide' },
  { group: 'machines', tool: 'read', effect: 'deny' },
  { tool: 'send', effect: 'ask' },
] as const;

async function served({ hasScopes = false } = {}) {
  const ran: string[] = [];
  const disk = createServer({ name: 'disk', version: '1', log });
  for (const name of ['read', 'peek', 'send', 'store', 'secret'])
    disk.tool(name, { annotations: { readOnlyHint: true } }, () => (ran.push(name), 'done'));
  const found = await start({
    servers: { disk: { server: disk, tools: { deny: ['secret'] } } },
    steps: [],
    rules: RULES,
    auth: { keys: KEYS, ...(hasScopes && { toolScopes: { store: ['write'] } }) },
  });
  const operator = new Paired(found.root);
  await operator.enter(found.gateway);
  const judge = async (asked: Record<string, string>): Promise<WhatIfView> =>
    (await (
      await operator.read(`judge?${new URLSearchParams({ server: 'disk', ...asked }).toString()}`)
    ).json()) as WhatIfView;
  return { ...found, ran, operator, judge };
}

describe('the page Access', () => {
  it('shows keys with what they may do and when they were used, and nothing of the keys themselves', async () => {
    const { operator, url } = await served();
    const client = await clientOf(url, { authorization: `Bearer ${keyOf('ann')}` });
    await client.listTools();
    const text = await (await operator.read('access')).text();
    const view = JSON.parse(text) as AccessView;
    expect(view.keys).toMatchObject([
      { name: 'ann', who: 'key:ann', scopes: ['mcp', 'write'], expires: Date.parse('2099-01-01') },
      { name: 'ci', who: 'key:robot', groups: ['machines'], expires: null, lastUsed: null },
      { name: 'ops' },
    ]);
    expect(view.keys[0]!.lastUsed).toBeGreaterThan(Date.now() - 600_000);
    expect(view).toMatchObject({ login: 'keys', logins: [], servers: ['disk'] });
    expect(view.rules.map(({ name, effect }) => `${name} ${effect ?? ''}`)).toEqual([
      'rules[0] deny',
      'rules[1] hide',
      'rules[2] deny',
      'rules[3] ask',
    ]);
    expect(text).not.toMatch(/annann|ciciciciciciic|sha256/);
  });

  it.each([
    ['ann', 'read', { path: '/etc/passwd' }, 'deny', 'rules[0]'],
    ['ann', 'read', { path: '/tmp/a' }, 'allow', null],
    ['ann', 'read', {}, 'deny', 'rules[0]'], // an expression that fails denies
    ['ci', 'read', { path: '/tmp/a' }, 'deny', 'rules[2]'],
    ['ci', 'peek', {}, 'hide', 'rules[1]'],
    ['ann', 'peek', {}, 'allow', null],
    ['ann', 'send', {}, 'ask', 'rules[3]'],
    ['ci', 'store', {}, 'deny', 'auth.toolScopes'],
    ['ann', 'store', {}, 'allow', 'auth.toolScopes'],
    ['ann', 'secret', {}, 'hide', 'servers.disk.tools.deny'],
  ])('what would happen if %s called %s is what happens: %o', async (key, tool, args, effect, rule) => {
    const { judge, url, ran, gateway, root } = await served({ hasScopes: tool === 'store' });
    await new Paired(root).enter(gateway, key); // somebody can be asked
    const found = await judge({ caller: `key:${key}`, tool, args: JSON.stringify(args) });
    expect([found.effect, found.decided?.rule ?? null]).toEqual([effect, rule]);
    expect(ran).toEqual([]); // nothing was called
    const client = await clientOf(url, { authorization: `Bearer ${keyOf(key)}` });
    const called = await client.callTool(tool, args).then(
      ({ isError, _meta }) => (_meta?.['mcp-parley/handle'] === undefined ? (isError ? 'deny' : 'allow') : 'ask'),
      ({ message }: Error) => (/unknown tool/i.test(message) ? 'hide' : 'deny'),
    );
    const isUnlisted = found.notes.some((note) => note.includes('not in the list'));
    expect(called).toBe(isUnlisted ? 'hide' : effect);
    expect(ran).toEqual(effect === 'allow' ? [tool] : []);
  });

  it('says why each rule before the one that decides does not', async () => {
    const { judge } = await served();
    const { judged } = await judge({ caller: 'key:ci', tool: 'read', args: '{"path":"/tmp"}' });
    expect(judged.find(({ by }) => by === 'rules')!.checked).toEqual([
      { name: 'rules[0]', decides: false, why: 'its expression is false' },
      { name: 'rules[1]', decides: false, why: 'another server or tool is meant' },
      { name: 'rules[2]', decides: true, why: 'all of its conditions hold' },
    ]);
    const { notes } = await judge({ caller: 'user:nobody', tool: 'none', args: '{}' });
    expect(notes).toMatchObject(
      [/does not list this tool/, /Nobody of this name/].map((one) => expect.stringMatching(one)),
    );
  });

  it('refuses arguments that are not an object, and servers that are not there', async () => {
    const { operator } = await served();
    const ask = async (query: string) => (await operator.read(`judge?${query}`)).status;
    expect(await ask('server=disk&tool=read&args=[1]')).toBe(422);
    expect(await ask('server=disk&tool=read&args={')).toBe(422);
    expect(await ask('server=other&tool=read')).toBe(422);
    expect(await ask('server=disk')).toBe(422);
  });

  it('takes a paired browser away, which then sees nothing, and no browser of another gateway', async () => {
    const stateFolder = mkdtempSync(join(tmpdir(), 'parley-console-'));
    closing.push(async () => rmSync(stateFolder, { recursive: true, force: true }));
    const one = await start({ stateFolder, pairedAs: 'one' });
    const other = await start({ stateFolder, pairedAs: 'other' });
    const [operator, phone, stranger] = [new Paired(one.root), new Paired(one.root), new Paired(other.root)];
    await operator.enter(one.gateway);
    await phone.enter(one.gateway);
    await stranger.enter(other.gateway);
    const browsers = async (browser: Paired) =>
      ((await (await browser.read('access')).json()) as AccessView).browsers.toSorted(({ isThis }) =>
        isThis ? -1 : 1,
      );
    const [own, theirs] = await browsers(operator);
    expect(own).toMatchObject({ isThis: true, user: null });
    expect((await browsers(stranger)).map(({ name }) => name)).not.toContain(own!.name);
    const [foreign] = await browsers(stranger);
    expect((await operator.post('forget', { name: foreign!.name })).status).toBe(409);
    expect((await operator.post('forget', { name: theirs!.name })).status).toBe(200);
    expect((await operator.post('forget', { name: theirs!.name })).status).toBe(409);
    expect((await phone.read('now')).status).toBe(401);
    expect((await operator.read('now')).status).toBe(200);
    expect((await stranger.read('now')).status).toBe(200);
  });
});
