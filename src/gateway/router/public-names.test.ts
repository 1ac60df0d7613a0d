import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PublicNames, posesAsAnother } from './public-names.ts';
import type { NameOwner } from './public-names.ts';

const word = fc.string({ minLength: 1, maxLength: 90 });
const part = fc.oneof(word, fc.constantFrom('a', 'b', 'a__b', 'b__c', 'c', '_', '__', 'a_', '_b', 'a__', '__b'));
const owner = fc.record({ server: part, name: part });
const ownersOf = fc.uniqueArray(owner, { selector: (one) => JSON.stringify([one.server, one.name]) });

function serversOf(owners: readonly NameOwner[]): string[] {
  return [...new Set(owners.map(({ server }) => server))];
}

describe('names that always have their server in front', () => {
  it('names always start with their server', () => {
    const names = new PublicNames(['files', 'web']);
    expect(names.publish({ server: 'files', name: 'read' })).toBe('files__read');
    expect(names.owner('files__read')).toEqual({ server: 'files', name: 'read' });
    expect(names.owner('read')).toBeUndefined();
  });

  it('names that always have their server in front do not depend on what is listed, or when', () => {
    fc.assert(
      fc.property(ownersOf, (owners) => {
        const [one, other] = [new PublicNames(serversOf(owners)), new PublicNames(serversOf(owners))];
        for (const { server, name } of owners) one.learn(server, [name]);
        const forth = owners.map((each) => one.publish(each));
        const back = owners.toReversed().map((each) => other.publish(each));
        expect(forth).toEqual(back.toReversed());
      }),
    );
  });

  it('keep servers apart whose names begin like those of others', () => {
    const names = new PublicNames(['a', 'a__b']);
    const [one, other] = [names.publish({ server: 'a', name: 'b__c' }), names.publish({ server: 'a__b', name: 'c' })];
    expect(one).toMatch(/^[0-9a-f]{8}_a__b__c$/);
    expect(other).toBe('a__b__c');
    expect(names.owner(one)).toEqual({ server: 'a', name: 'b__c' });
    expect(names.owner(other)).toEqual({ server: 'a__b', name: 'c' });
  });

  it('names that always have their server in front are cut where they are too long, and understood whole', () => {
    const names = new PublicNames(['files']);
    const long = { server: 'files', name: 'x'.repeat(80) };
    const short = names.publish(long);
    expect(short).toMatch(/^files__x+_[0-9a-f]{8}$/);
    expect(short).toHaveLength(64);
    expect([names.owner(short), names.owner(`files__${long.name}`)]).toEqual([long, long]);
  });
});

describe('names that are qualified on collision', () => {
  it('names that are qualified on collision are bare for the first configured server that has them', () => {
    const names = new PublicNames(['files', 'web'], 'on-collision');
    names.learn('web', ['read', 'fetch']);
    names.learn('files', ['read']);
    expect(names.publish({ server: 'web', name: 'read' })).toBe('web__read');
    expect(names.publish({ server: 'files', name: 'read' })).toBe('read');
    expect(names.publish({ server: 'web', name: 'fetch' })).toBe('fetch');
    expect(names.owner('read')).toEqual({ server: 'files', name: 'read' });
    expect(names.owner('files__read')).toEqual({ server: 'files', name: 'read' });
  });

  it('names that are qualified on collision are never bare while a server that is configured earlier may have them', () => {
    const names = new PublicNames(['staging', 'production'], 'on-collision');
    names.learn('production', ['deploy']);
    expect(names.publish({ server: 'production', name: 'deploy' })).toBe('production__deploy');
    expect(names.owner('deploy')).toBeUndefined();
    expect(names.isIncomplete).toBe(true);
    names.learn('staging', ['deploy']);
    expect(names.owner('deploy')).toEqual({ server: 'staging', name: 'deploy' });
    expect(names.publish({ server: 'production', name: 'deploy' })).toBe('production__deploy');
  });

  it('stay reserved for a server that no longer lists them', () => {
    const names = new PublicNames(['staging', 'production'], 'on-collision');
    names.learn('production', ['deploy']);
    names.learn('staging', ['deploy']);
    names.learn('staging', []);
    expect(names.owner('deploy')).toEqual({ server: 'staging', name: 'deploy' });
  });

  it('names that are qualified on collision are not bare where they look like a name of another server', () => {
    const names = new PublicNames(['evil', 'github'], 'on-collision');
    names.learn('evil', ['github__delete']);
    names.learn('github', ['delete']);
    expect(names.publish({ server: 'evil', name: 'github__delete' })).toBe('evil__github__delete');
    expect(names.owner('github__delete')).toEqual({ server: 'github', name: 'delete' });
  });

  it('never lead to another server than before, in whatever order servers come up', () => {
    fc.assert(
      fc.property(ownersOf, fc.infiniteStream(fc.nat()), (owners, order) => {
        const servers = serversOf(owners);
        const namesOf = (server: string) => owners.filter((one) => one.server === server).map(({ name }) => name);
        const names = new PublicNames(servers, 'on-collision');
        const led = new Map<string, NameOwner>();
        const up = [...servers].toSorted(() => (order.next().value! % 2 === 0 ? 1 : -1));
        for (const server of up) {
          names.learn(server, namesOf(server));
          for (const one of owners) {
            const spelling = names.publish(one);
            const before = led.get(spelling);
            if (before) expect(before).toEqual(one);
            led.set(spelling, one);
          }
        }
      }),
    );
  });
});

it.each(['always', 'on-collision'] as const)(
  'names (%s) lead back to one owner, are told apart and fit in 64 characters, whatever servers are called',
  (naming) => {
    fc.assert(
      fc.property(ownersOf, (owners) => {
        const names = new PublicNames(serversOf(owners), naming);
        for (const { server, name } of owners) names.learn(server, [name]);
        const published = owners.map((one) => [names.publish(one), one] as const);
        expect(new Set(published.map(([name]) => name)).size).toBe(owners.length);
        for (const [name, one] of published) {
          expect(names.owner(name)).toEqual(one);
          expect(name.length).toBeLessThanOrEqual(64);
        }
      }),
    );
  },
);

it('a server imitates another if its name starts with the other name and two underscores', () => {
  const servers = ['evil', 'github'];
  expect(posesAsAnother({ server: 'evil', name: 'github__x' }, servers)).toBe(true);
  expect(posesAsAnother({ server: 'github', name: 'github__x' }, servers)).toBe(false);
  expect(posesAsAnother({ server: 'evil', name: 'github_x' }, servers)).toBe(false);
});
