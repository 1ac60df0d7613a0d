// As whom root acts: only as the owner of a state folder that nobody else can have put there.
import { describe, expect, it } from 'vitest';
import { doubtOf } from './service-user.ts';

const FOLDER = '/srv/p/state/parley';
const ROOT = { path: '/', uid: 0, mode: 0o40755, isLink: false };
const SRV = { ...ROOT, path: '/srv' };
const own = (path: string, uid = 7) => ({ path, uid, mode: 0o40755, isLink: false });
const link = (path: string, uid = 7) => ({ path, uid, mode: 0o120777, isLink: true });

describe('root acts as the owner of a state folder', () => {
  it.each([
    ["everything above is theirs or root's", [ROOT, SRV, own('/srv/p'), own('/srv/p/state'), own(FOLDER)]],
    ["all above is root's alone", [ROOT, SRV, own('/srv/p', 0), own('/srv/p/state', 0), own(FOLDER)]],
    [
      'a link of root leads there',
      [ROOT, link('/srv', 0), ROOT, own('/data'), own('/data/state'), own('/data/parley')],
    ],
    ['it is theirs, in a folder of theirs in /tmp', [ROOT, { ...SRV, mode: 0o41777 }, own('/srv/state'), own(FOLDER)]],
  ])('if %s', (_, passed) => {
    expect(doubtOf(FOLDER, passed)).toBe(undefined);
  });

  it.each([
    [
      'a link is in its place',
      [ROOT, SRV, own('/srv/p'), link(FOLDER), ROOT, own('/srv/alice/parley', 8)],
      'a link of user 7',
    ],
    [
      'a link of root is in its place',
      [ROOT, SRV, link(FOLDER, 0), ROOT, own('/srv/alice/parley', 8)],
      'a link of user 0',
    ],
    [
      'a link is above',
      [ROOT, SRV, link('/srv/p'), ROOT, own('/srv/alice', 8), own('/srv/alice/parley', 8)],
      'a link of user 7',
    ],
    [
      'a link leads to a folder of root',
      [ROOT, SRV, own('/srv/p'), link(FOLDER), ROOT, own('/etc', 0)],
      'a link of user 7',
    ],
    [
      'a folder above is of a third user',
      [ROOT, SRV, own('/srv/p'), own('/srv/p/state', 8), own(FOLDER, 8)],
      '/srv/p to user 7',
    ],
    ['all can write above', [ROOT, { ...SRV, mode: 0o40777 }, own('/srv/p'), own(FOLDER)], 'can write /srv'],
    ['all can make folders beside it', [ROOT, { ...SRV, mode: 0o41777 }, own(FOLDER)], 'can write /srv'],
  ])('and not if %s', (_, passed, doubt) => {
    expect(doubtOf(FOLDER, passed)).toContain(doubt);
  });
});
