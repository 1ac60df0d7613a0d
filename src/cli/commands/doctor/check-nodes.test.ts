import { describe, expect, it } from 'vitest';
import { checkNodes } from './check-machine.ts';

const node = (url: string, more = {}) => ({
  node: 'n',
  url,
  isSelf: false,
  isDraining: false,
  version: '1',
  started: null,
  sessions: 0,
  differs: [],
  ...more,
});

describe('doctor and gateways that serve as one', () => {
  it('doctor says nothing of a cluster where a gateway is alone', () => {
    expect(checkNodes(undefined)).toEqual([]);
  });

  it('doctor says how many gateways there are, if all are the same, or say nothing of themselves', () => {
    const nodes = [node('a'), node('b'), node('c', { version: null })];
    expect(checkNodes(nodes)).toMatchObject([{ level: 'ok', what: '3 gateways serve as one' }]);
  });

  it('doctor warns with the address and the keys of each gateway that differs, and its version', () => {
    const nodes = [node('a'), node('b', { differs: ['auth', 'rules'] }), node('c', { version: '2' })];
    const [found] = checkNodes(nodes);
    expect(found).toMatchObject({ level: 'warning' });
    expect(found!.what).toContain('b in auth, rules; c is version 2');
  });
});
