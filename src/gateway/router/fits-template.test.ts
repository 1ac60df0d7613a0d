import { expect, it } from 'vitest';
import { fitsTemplate } from './route-resource.ts';

it.each([
  ['item://one/4', 'item://one/{id}'],
  ['item://one/a/b', 'item://one/{+path}'],
  ['item://one/', 'item://one/{id}'],
  ['a://x/mid/y.txt', 'a://{host}/mid/{name}.txt'],
  ['a://x?q=1', 'a://x{?q}'],
  ['a://x', 'a://x{?q}'],
  ['a://x', 'a://x'],
  ['anything', '{+uri}'],
])('%s may come from %s', (uri, template) => expect(fitsTemplate(uri, template)).toBe(true));

it.each([
  ['item://two/4', 'item://one/{id}'],
  ['a://x/y', 'a://x'],
  ['a://x/y.txt', 'a://x/{name}.md'],
  ['a://x/y/z', 'a://{host}/mid/{name}'],
  ['a://aba', 'a://ab{x}ba'],
  ['a://x', undefined],
  ['a://x', 7],
])('%s does not come from %j', (uri, template) => expect(fitsTemplate(uri, template)).toBe(false));
