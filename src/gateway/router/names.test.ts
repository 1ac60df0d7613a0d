import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Names } from './names.ts';
import type { Owner } from './names.ts';

const word = fc.string({ minLength: 1, maxLength: 90 });
const owner = fc.record({ server: word, name: word });

describe('public names', () => {
  it('stay bare for the first server that has them and are prefixed for a later one', () => {
    const names = new Names();
    expect(names.publish({ server: 'files', name: 'read' })).toBe('read');
    expect(names.publish({ server: 'web', name: 'read' })).toBe('web__read');
    expect(names.publish({ server: 'web', name: 'fetch' })).toBe('fetch');
  });

  it('are always prefixed where that is wanted', () => {
    expect(new Names('always').publish({ server: 'files', name: 'read' })).toBe('files__read');
  });

  it('never change while they are known', () => {
    const names = new Names();
    const first = names.publish({ server: 'web', name: 'read' });
    names.publish({ server: 'files', name: 'read' });
    expect(names.publish({ server: 'web', name: 'read' })).toBe(first);
    expect(names.known({ server: 'web', name: 'read' })).toBe(first);
  });

  it('lead back to one owner, are told apart and fit in 64 characters, whatever the servers are called', () => {
    fc.assert(
      fc.property(fc.uniqueArray(owner, { selector: (one) => JSON.stringify([one.server, one.name]) }), (owners) => {
        const names = new Names();
        const published = owners.map((one) => [names.publish(one), one] as [string, Owner]);
        expect(new Set(published.map(([name]) => name)).size).toBe(owners.length);
        for (const [name, one] of published) {
          expect(names.owner(name)).toEqual(one);
          expect(name.length).toBeLessThanOrEqual(64);
        }
      }),
    );
  });

  it('keep servers apart that conspire to share a prefixed name', () => {
    const names = new Names('always');
    const one = names.publish({ server: 'a', name: 'b__c' });
    const other = names.publish({ server: 'a__b', name: 'c' });
    expect(one).not.toBe(other);
    expect(names.owner(other)).toEqual({ server: 'a__b', name: 'c' });
  });

  it('are given back with their server, and kept by all others', () => {
    const names = new Names();
    names.publish({ server: 'files', name: 'read' });
    names.publish({ server: 'web', name: 'read' });
    names.release('files');
    expect(names.owner('read')).toBeUndefined();
    expect(names.uniquely('read')).toEqual({ server: 'web', name: 'read' });
    expect(names.publish({ server: 'web', name: 'read' })).toBe('web__read');
    expect(names.publish({ server: 'new', name: 'read' })).toBe('read');
    expect(names.publish({ server: 'files', name: 'read' })).toBe('files__read');
  });

  it('are given anew under another rule, and those shown before still lead to their owners', () => {
    const names = new Names();
    names.publish({ server: 'files', name: 'read' });
    names.rename('always');
    expect(names.publish({ server: 'files', name: 'read' })).toBe('files__read');
    expect(names.owner('read')).toEqual({ server: 'files', name: 'read' });
    names.release('files');
    expect([names.owner('read'), names.owner('files__read')]).toEqual([undefined, undefined]);
  });

  it('are found by the own name of a server where only one has it', () => {
    const names = new Names('always');
    names.publish({ server: 'files', name: 'read' });
    expect(names.uniquely('read')).toEqual({ server: 'files', name: 'read' });
    names.publish({ server: 'web', name: 'read' });
    expect(names.uniquely('read')).toBeUndefined();
  });
});
