import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isStoreUrl, openStoreUrl, resolveStoreUrl } from './store-url.ts';

describe('the URL of a store', () => {
  it.each([
    ['sqlite:flows.db', true],
    ['sqlite://flows.db', true],
    ['redis://localhost', true],
    ['rediss://localhost:6380/2', true],
    ['postgres://localhost/flows', true],
    ['postgresql://me@localhost:5433/flows?sslmode=require', true],
    ['sqlite:', false],
    ['redis:localhost', false],
    ['mysql://localhost', false],
    ['flows.db', false],
  ])('names a store by its scheme: %s', (url, isStore) => {
    expect(isStoreUrl(url)).toBe(isStore);
  });

  it('is relative to the folder of the file that has it, if it is a path', () => {
    expect(resolveStoreUrl('sqlite:flows.db', '/srv')).toBe(`sqlite:${resolve('/srv/flows.db')}`);
    expect(resolveStoreUrl('redis://localhost', '/srv')).toBe('redis://localhost');
  });

  it('is refused without its password if no store has its scheme', async () => {
    await expect(openStoreUrl('mysql://me:secret@host/db')).rejects.toThrow(
      '"mysql://…@host/db" is not a store; write sqlite:FILE, redis://HOST or rediss://HOST, postgres://HOST/DATABASE',
    );
  });

  it('is refused if it names a file that is not there', async () => {
    await expect(openStoreUrl('sqlite:/nowhere/flows.db')).rejects.toThrow('/nowhere/flows.db does not exist');
  });
});
