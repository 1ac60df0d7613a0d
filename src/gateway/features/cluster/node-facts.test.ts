import { describe, expect, it } from 'vitest';
import { differences, readFacts, toReport } from './node-facts.ts';

const own = { version: '2', started: 1000, sessions: 1, config: { rules: 'a', auth: 'b' } };
const seen = { name: 'n', url: 'http://n', isDraining: false, clockAhead: 0 };

describe('a node and what another one shows of it', () => {
  it('two nodes name the keys in which they are configured differently, also those that only one has', () => {
    expect(differences({ config: { rules: 'x', limits: 'c', auth: 'b' } }, own)).toEqual(['limits', 'rules']);
  });

  it('there are no differences from a node that does not say how it is configured, as older versions', () => {
    expect(differences(readFacts({}), own)).toEqual([]);
    expect(toReport({ ...seen, facts: readFacts({}) }, own)).toMatchObject({
      version: null,
      started: null,
      sessions: null,
      differs: [],
      isSelf: false,
    });
  });

  it('the start of another node is told by the clock of the one that is asked', () => {
    const facts = readFacts({ version: '1', started: 61_000, sessions: 2 });
    expect(toReport({ ...seen, clockAhead: 60_000, facts }, own)).toMatchObject({
      version: '1',
      started: new Date(1000).toISOString(),
      sessions: 2,
    });
  });

  it('nothing is taken from a row that has other types than it should', () => {
    const facts = readFacts({ version: 7, started: 'soon', sessions: {}, config: [] });
    expect(toReport({ ...seen, facts }, own)).toMatchObject({ version: null, started: null, sessions: null });
    expect(toReport({ ...seen, facts: { started: 1e300 } }, own).started).toBeNull();
  });
});
