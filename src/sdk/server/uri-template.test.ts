import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUriTemplate } from './uri-template.ts';
import { cpuMs } from '../../kernel/base/cpu-time.contract.ts';

const match = (template: string, uri: string) => parseUriTemplate(template).match(uri);

describe('a URI template', () => {
  it.each([
    ['users://{id}', 'users://7', { id: '7' }],
    ['users://{id}', 'users://7/posts', undefined],
    ['users://{id}/posts/{post}', 'users://7/posts/9', { id: '7', post: '9' }],
    ['users://{id}', 'users://', undefined],
    ['users://{id}', 'USERS://7', undefined],
    ['a://{x}-{y}', 'a://1-2-3', { x: '1', y: '2-3' }],
    ['a://{name}.json', 'a://b.c.json', { name: 'b.c' }],
    ['a://{x,y}', 'a://1,2', { x: '1', y: '2' }],
    ['a://{+path}', 'a://b/c?d#e', { path: 'b/c?d#e' }],
    ['a://{+path}/raw', 'a://b/c/raw', { path: 'b/c' }],
    ['a://{+path}{?q}', 'a://b/c?q=1', { path: 'b/c', q: '1' }],
    ['a://b{/x,y}', 'a://b/1/2', { x: '1', y: '2' }],
    ['a://b{/x,y}', 'a://b/1', { x: '1' }],
    ['a://b{?q,page}', 'a://b?page=2&q=x%20y&other=1', { q: 'x y', page: '2' }],
    ['a://b{?q,page}', 'a://b', {}],
    ['a://{x}', 'a://%C3%A4%2F', { x: 'ä/' }],
    ['a://{x}', 'a://%', undefined],
    ['a://b', 'a://b', {}],
    ['a://b.c', 'a://bxc', undefined],
  ])('%s reads %s', (template, uri, expected) => {
    expect(match(template, uri)).toEqual(expected);
  });

  it('lets the last variable of a file template hold slashes, and no other', () => {
    expect(match('file:///{path}', 'file:///some/path')).toEqual({ path: 'some/path' });
    expect(match('file:///{path}', 'file:///some/path?query')).toBeUndefined();
    expect(match('file:///{drive}/{path}', 'file:///c/some/path')).toEqual({ drive: 'c', path: 'some/path' });
  });

  it('gives back the values it was expanded with', () => {
    const value = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(value, value, value, (id, rest, query) => {
        const uri = `a://${expand(id)}/x/${encodeURI(rest).replace(/[?#]/g, expand)}?q=${expand(query)}`;
        // `encodeURI` is the expansion of {+var}, except that it does not leave percent signs alone.
        expect(match('a://{id}/x/{+rest}{?q}', uri)).toEqual({ id, rest, q: query });
      }),
    );
  });

  it.each(['a://{', 'a://{}', 'a://{#x}', 'a://{x*}', 'a://{x:3}', 'a://{x}{y}', 'a://{+x}/{+y}', 'a://{?x}/b'])(
    'a URI template is refused when it is %s',
    (template) => {
      expect(() => parseUriTemplate(template)).toThrow(/^URI template a:/);
    },
  );

  it('gives up on a hostile URI at once', () => {
    const spent = cpuMs(() => {
      expect(match('a://{x}-{y}-{z}/{+rest}!', `a://${'-a'.repeat(4000)}/${'/'.repeat(100)}`)).toBeUndefined();
      expect(match('a://{+rest}/x/{y}', `a://${'/x'.repeat(1_000_000)}`)).toBeUndefined();
    });
    expect(spent).toBeLessThan(2000);
  });
});

function expand(value: string): string {
  return encodeURIComponent(value);
}
