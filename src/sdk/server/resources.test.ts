import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { FakeExchange, answerOf } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { ResourceProvider } from './types.ts';

const create = (options = {}) => new Server({ name: 'test', version: '1', ...options });
const send = (server: Server, method: string, params: JsonObject = {}) =>
  answerOf(server, new FakeExchange(method, { params }));
const uris = (list: JsonObject) => (list['resources'] as { uri: string }[]).map(({ uri }) => uri);
const hints = { ttlMs: 0, cacheScope: 'private' };

describe('lists of resources and templates', () => {
  it('show what was given, with the URI as name if there is no name', async () => {
    const server = create();
    server.resource('a://1', {}, () => '');
    const full = { title: 'T', description: 'D', mimeType: 'text/plain', size: 3, annotations: { priority: 1 } };
    server.resource('a://2', { name: 'two', ...full, meta: { k: 1 } }, () => '');
    server.template('a://{id}', { name: 'any', mimeType: 'text/plain' }, () => '');
    expect(await send(server, 'resources/list')).toEqual({
      resources: [
        { uri: 'a://1', name: 'a://1' },
        { uri: 'a://2', name: 'two', ...full, _meta: { k: 1 } },
      ],
      ...hints,
    });
    expect(await send(server, 'resources/templates/list')).toEqual({
      resourceTemplates: [{ uriTemplate: 'a://{id}', name: 'any', mimeType: 'text/plain' }],
      ...hints,
    });
  });

  it('refuse a resource or template that is there already', () => {
    const server = create();
    server.resource('a://1', {}, () => '');
    server.template('a://{x}', {}, () => '');
    expect(() => server.resource('a://1', {}, () => '')).toThrow('resource a://1: is registered already');
    expect(() => server.template('a://{x}', {}, () => '')).toThrow('resource template a://{x}: is registered already');
  });
});

describe('a list with providers', () => {
  const paged = (name: string, pages: number): ResourceProvider => ({
    list: (cursor) => {
      const page = cursor === undefined ? 1 : Number(new RegExp(`^${name}-(\\d+)$`).exec(cursor)?.[1] ?? 0);
      if (page === 0) return undefined;
      const resources = [{ uri: `${name}://${page}`, name: `${page}` }];
      return page < pages ? { resources, nextCursor: `${name}-${page + 1}` } : { resources };
    },
    read: () => undefined,
  });

  async function walk(server: Server): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: unknown;
    do {
      const list = await send(server, 'resources/list', cursor === undefined ? {} : { cursor });
      pages.push(uris(list));
      cursor = list['nextCursor'];
    } while (cursor !== undefined);
    return pages;
  }

  it('appends the first page of the provider to the last of its own, then follows the provider', async () => {
    const server = create({ pageSize: 2 });
    for (const uri of ['o://1', 'o://2', 'o://3']) server.resource(uri, {}, () => '');
    server.resources(paged('p', 2));
    expect(await walk(server)).toEqual([['o://1', 'o://2'], ['o://3', 'p://1'], ['p://2']]);
  });

  it('goes through several providers one after the other', async () => {
    const server = create();
    server.resources(paged('p', 2));
    server.resources(paged('q', 1));
    server.resources({ list: () => undefined, read: () => undefined });
    server.resources(paged('r', 2));
    expect(await walk(server)).toEqual([['p://1'], ['p://2', 'q://1', 'r://1'], ['r://2']]);
  });

  it('refuses a cursor that is nobody’s', async () => {
    const server = create();
    server.resources(paged('p', 2));
    await expect(send(server, 'resources/list', { cursor: 'x' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      details: { parameter: 'cursor', error: 'Invalid cursor' },
    });
    const without = create({ declare: ['resources'] });
    await expect(send(without, 'resources/list', { cursor: 'x' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  it('forgets a provider that was removed', async () => {
    const server = create();
    const registration = server.resources(paged('p', 1));
    registration.remove();
    expect(await walk(server)).toEqual([[]]);
  });
});

describe('reading a resource', () => {
  const mimeType = 'text/x';

  it.each([
    ['text', [{ uri: 'a://1', mimeType, text: 'text' }]],
    [Buffer.from('xbytes').subarray(1), [{ uri: 'a://1', mimeType, blob: btoa('bytes') }]],
    [[{ uri: 'a://2', text: '' }], [{ uri: 'a://2', text: '' }]],
  ])('gives %j as contents', async (returned, contents) => {
    const server = create();
    server.resource('a://1', { mimeType }, async () => returned);
    expect(await send(server, 'resources/read', { uri: 'a://1' })).toEqual({ contents, ...hints });
  });

  it('keeps a whole result and its own cache hints', async () => {
    const server = create({ cache: { ttlMs: 9 } });
    const whole = { contents: [], ttlMs: 1, _meta: { a: 1 } };
    server.resource('a://1', {}, () => whole);
    expect(await send(server, 'resources/read', { uri: 'a://1' })).toEqual({ ...whole, cacheScope: 'private' });
  });

  it('looks among single ones, then providers, then templates', async () => {
    const server = create();
    server.template('a://{x}', { mimeType }, (uri, { x }) => (x === 'no' ? undefined : `template ${uri} ${x}`));
    server.resources({ list: () => undefined, read: (uri) => (uri < 'a://3' ? 'provider' : undefined) });
    server.resource('a://1', {}, () => 'exact');
    const read = async (uri: string) => (await send(server, 'resources/read', { uri }))['contents'];
    expect(await read('a://1')).toEqual([{ uri: 'a://1', text: 'exact' }]);
    expect(await read('a://2')).toEqual([{ uri: 'a://2', text: 'provider' }]);
    expect(await read('a://3')).toEqual([{ uri: 'a://3', mimeType, text: 'template a://3 3' }]);
    const nowhere = { code: 'RESOURCE_NOT_FOUND', details: { uri: 'a://no' } };
    await expect(read('a://no')).rejects.toMatchObject(nowhere);
  });

  it('reading a resource that fails says nothing of why to the client', async () => {
    const server = create();
    server.resource('a://1', {}, () => Promise.reject(new Error('/secret/path')));
    const read = send(server, 'resources/read', { uri: 'a://1' });
    await expect(read).rejects.toMatchObject({ code: 'INTERNAL', message: 'Internal error' });
  });

  it('needs a uri', async () => {
    const server = create({ declare: ['resources'] });
    const details = { parameter: 'uri', error: 'Required parameter missing' };
    await expect(send(server, 'resources/read')).rejects.toMatchObject({ details });
  });
});

describe('a subscription', () => {
  it('a subscription is taken for what can be read, and for nothing else', async () => {
    const server = create();
    server.resource('a://1', {}, () => Promise.reject(new Error('not read')));
    server.template('b://{x}', {}, (_, { x }) => (x === '1' ? '' : undefined));
    for (const uri of ['a://1', 'b://1']) expect(await send(server, 'resources/subscribe', { uri })).toEqual({});
    const unknown = send(server, 'resources/subscribe', { uri: 'b://2' });
    await expect(unknown).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  });

  it('a subscription may be ended though it never began', async () => {
    const server = create({ declare: ['resources'] });
    expect(await send(server, 'resources/unsubscribe', { uri: 'x://1' })).toEqual({});
    await expect(send(server, 'resources/unsubscribe', { uri: 1 })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });
});
