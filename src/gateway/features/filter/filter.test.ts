import type { Handle } from '../../../kernel/target.ts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { chainOf, serverOf } from '../../../kernel/fake-exchange.contract.ts';
import { filter } from './filter.ts';
import type { FilterOptions } from './filter.ts';

const named = serverOf({
  tools: ['read_file', 'delete_file'].map((name) => ({ name })),
  prompts: ['greet', 'delete_all'].map((name) => ({ name })),
});
const server: Handle = (exchange) => {
  const resources = ['file:///data/a', 'file:///etc/passwd'].map((uri) => ({ uri, name: uri }));
  if (exchange.method === 'resources/list') return { resources, nextCursor: 'n' };
  if (exchange.method === 'resources/templates/list')
    return { resourceTemplates: [{ uriTemplate: 'file:///etc/{x}' }] };
  return named(exchange);
};
const through = (options: FilterOptions) => chainOf([filter(options)], server);
const namesIn = (result: JsonObject, area: string, key = 'name') =>
  (result[area] as JsonObject[]).map((one) => one[key]);

describe('filter', () => {
  it('lists and serves what is not denied', async () => {
    const call = through({ deny: ['*delete*'] });
    expect(namesIn(await call('tools/list'), 'tools')).toEqual(['read_file']);
    expect(namesIn(await call('prompts/list'), 'prompts')).toEqual(['greet']);
    expect(await call('tools/call', { name: 'read_file' })).toMatchObject({ params: { name: 'read_file' } });
    expect(await call('prompts/get', { name: 'greet' })).toMatchObject({ params: { name: 'greet' } });
  });

  it('filter does not know tools and prompts that are denied', async () => {
    const call = through({ deny: ['*delete*'] });
    await expect(call('tools/call', { name: 'delete_file' })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    await expect(call('prompts/get', { name: 'delete_all' })).rejects.toMatchObject({ code: 'PROMPT_NOT_FOUND' });
  });

  it('suggests no resource that is denied', async () => {
    const values = ['etc/passwd', 'data/a'];
    const call = chainOf([filter({ deny: ['file:///etc/*'] })], () => ({ completion: { values, total: 2 } }));
    const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
    const answer = await call('completion/complete', { ref, argument: { name: 'path', value: 'etc/' } });
    expect(answer).toEqual({ completion: { values: ['data/a'], hasMore: false } });
  });

  it('refuses names that are not listed: a server might know a denied tool by another name', async () => {
    const call = through({ deny: ['files__*'] });
    await expect(call('tools/call', { name: 'alias' })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('denies whatever an allow list does not name, and deny wins', async () => {
    const call = through({ tools: { allow: ['*_file'], deny: ['delete*'] } });
    expect(namesIn(await call('tools/list'), 'tools')).toEqual(['read_file']);
    expect(namesIn(await call('prompts/list'), 'prompts')).toEqual(['greet', 'delete_all']);
    expect(namesIn(await through({ allow: [] })('tools/list'), 'tools')).toEqual([]);
  });

  it('keeps resources and templates from lists, reads, subscriptions and completion', async () => {
    const call = through({ resources: { deny: ['file:///etc/*'] } });
    const listed = await call('resources/list');
    expect(namesIn(listed, 'resources', 'uri')).toEqual(['file:///data/a']);
    expect(listed.nextCursor).toBe('n');
    expect(namesIn(await call('resources/templates/list'), 'resourceTemplates')).toEqual([]);
    const uri = 'file:///etc/passwd';
    for (const method of ['resources/read', 'resources/subscribe']) {
      await expect(call(method, { uri })).rejects.toMatchObject({ code: 'ACCESS_DENIED', details: { uri } });
    }
    const ref = { type: 'ref/resource', uri: 'file:///etc/{x}' };
    await expect(call('completion/complete', { ref })).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    expect(await call('resources/read', { uri: 'file:///data/a' })).toMatchObject({ method: 'resources/read' });
  });

  it.each([
    'file:///data/../etc/passwd',
    'file:///data/%2e%2e/etc/passwd',
    'file:///data/..%2Fetc/passwd',
    'file:///%65tc/passwd',
    'FILE:///etc/passwd',
    'file://localhost/etc/passwd',
    'file:////etc/passwd',
    'file:///ETC/passwd',
    'file:///Etc/../eTC/passwd',
    'file:/etc/passwd',
    'file:///%65tc/passwd?%',
    'file:///%65tc/passwd#%',
    'file:///%65tc/passwd?x=%zz',
    'file:///data/%2e%2e/%65tc/passwd?%',
    'file:///%2565tc/passwd',
    'file:///etc\\passwd',
    'file:///et\tc/passwd',
    'file:///etc/passwd%00.txt',
    'file:///%ff/../etc/passwd',
    'file:///data?/../../etc/passwd',
    'parley://any/file%3A%2F%2F%2Fetc%2Fpasswd',
  ])('sees through %s', async (uri) => {
    const denied = through({ resources: { deny: ['file:///etc/*'] } });
    await expect(denied('resources/read', { uri })).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    const allowed = through({ resources: { allow: ['file:///data/*'] } });
    await expect(allowed('resources/read', { uri })).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
  });

  it.each([
    ['file:///data/*', 'file:///data/my%20file.txt'],
    ['file:///my%20data/*', 'file:///my%20data/a'],
    ['file:///my data/*', 'file:///my%20data/a'],
    ['file:///my%20data/*', 'file:///my data/a'],
    ['search://items?q=*', 'search://items?q=a%26b'],
    ['note://My-Notes/*', 'note://My-Notes/a'],
    ['note:///caf\u00e9', 'note:///caf%C3%A9'],
    ['file:///data/{path}', 'file:///data/{path}'],
    ['search://items{?q}', 'search://items{?q}'],
    ['urn:isbn:*', 'urn:isbn:1'],
    ['file:///data/*', 'file:///data/a/../b'],
    ['file:///data/*', 'file:///data/'],
  ])('an allow list with %s lets %s pass', async (pattern, uri) => {
    const allowed = through({ resources: { allow: [pattern] } });
    expect(await allowed('resources/read', { uri })).toMatchObject({ method: 'resources/read' });
  });

  it('denies files in any case, and other URIs only as they are written', async () => {
    const denied = through({ resources: { deny: ['file:///Secret/*', 'note://a/Secret'] } });
    for (const uri of ['file:///SECRET/key', 'file:///secret/key', 'parley://any/file%3A%2F%2F%2FsECRET%2Fkey'])
      await expect(denied('resources/read', { uri })).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    expect(await denied('resources/read', { uri: 'note://a/secret' })).toMatchObject({ method: 'resources/read' });
    const allowed = through({ resources: { allow: ['file:///data/*'] } });
    await expect(allowed('resources/read', { uri: 'file:///DATA/a' })).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
  });

  it('refuses URIs that mean too many things', async () => {
    const denied = through({ resources: { deny: ['file:///etc/*'] } });
    const layers = '%2525252525%2e./'.repeat(200);
    for (const uri of [`file:///${'%25'.repeat(3000)}`, 'parley://a/'.repeat(300), `note://A@b/${layers}?x/../y#z`]) {
      await expect(denied('resources/read', { uri })).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    }
    expect(await denied('resources/read', { uri: `file:///${'a'.repeat(10_000)}` })).toBeDefined();
  });

  it('changes of denied resources are not reported', () => {
    const { onChange } = filter({ deny: ['*secret*'] });
    expect(onChange!({ kind: 'resource', uri: 'file:///secret' })).toBeUndefined();
    expect(onChange!({ kind: 'resource', uri: 'file:///open' })).toBeDefined();
    expect(onChange!({ kind: 'tools', added: [{ name: 'secret' }] })).toBeUndefined();
    expect(onChange!({ kind: 'resources' })).toEqual({ kind: 'resources' });
  });

  it('filter does not touch kinds that no rule is about', () => {
    expect(filter({ tools: { deny: ['x'] } }).methods).toEqual([
      'tools/list',
      'tools/call',
      'interaction.start',
      'interaction.getState',
    ]);
    expect(filter().methods).toEqual([]);
  });

  it('refuses options that are misspelled', () => {
    expect(() => filter({ dney: [] } as never)).toThrow(
      'filter.dney: is not an option; there are allow, deny, tools, prompts, resources',
    );
    expect(() => filter({ deny: '*' } as never)).toThrow('filter.deny: must be a list');
    expect(() => filter({ tools: { denied: [] } } as never)).toThrow('filter.tools.denied: is not an option');
  });
});
