import { expect, it } from 'vitest';
import type { CatalogList } from './list-cache.ts';
import { likelyMembers } from './route-resource.ts';
import type { Member } from './member.ts';

/** Who gets a URI, if these servers have these resources and templates. */
function told(uri: string, servers: Record<string, { resources?: string[]; templates?: string[] }>): string[] {
  const list = (entries: object[]): CatalogList => ({ entries, ttlMs: 0, isPrivate: false }) as CatalogList;
  const able = Object.entries(servers).map(([name, { resources = [], templates = [] }]) => ({
    member: { name } as Member,
    resources: list(resources.map((own) => ({ uri: own }))),
    templates: list(templates.map((uriTemplate) => ({ uriTemplate }))),
  }));
  return likelyMembers(uri, able).map(({ name }) => name);
}

it('a template that fits everything gets nothing that another server may have', () => {
  const servers = { greedy: { templates: ['{+any}', '{scheme}://{+rest}'] }, notes: { templates: ['note://{id}'] } };
  expect(told('note://1', servers)).toEqual(['notes']);
  expect(told('bank://account?token=1', servers)).toEqual([]);
});

it('the template that writes out most comes first', () => {
  const servers = { wide: { templates: ['file:///{+path}'] }, near: { templates: ['file:///srv/notes/{+path}'] } };
  expect(told('file:///srv/notes/x', servers)).toEqual(['near', 'wide']);
  expect(told('file:///etc/x', servers)).toEqual(['wide', 'near']);
});

it('an unlisted URI is told only to servers that have resources of its scheme, and on the web of its host', () => {
  const servers = {
    memo: { resources: ['memo://1'] },
    web: { resources: ['https://a.example/x'], templates: ['HTTPS://b.example/{id}'] },
    other: { resources: ['https://c.example/x'] },
  };
  expect(told('MEMO://2', servers)).toEqual(['memo']);
  expect(told('https://a.example/secret', servers)).toEqual(['web']);
  expect(told('https://d.example/secret', servers)).toEqual([]);
  expect(told('nonsense', servers)).toEqual([]);
});

it('a single server with resources is always asked', () => {
  expect(told('x://y', { only: {} })).toEqual(['only']);
});
