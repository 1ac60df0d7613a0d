import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { loadPool } from './pooled-http.ts';

const load = createRequire(import.meta.url);

it('takes the pool of undici from its own file, and from the whole package where a later version has moved it', () => {
  const pool = loadPool(load);
  const moved = (name: string): unknown => {
    if (name !== 'undici') throw new Error('no such file');
    return load(name);
  };
  expect(loadPool(moved)).toBe(pool);
  expect(loadPool((name) => (name === 'undici' ? load(name) : {}))).toBe(pool);
});
