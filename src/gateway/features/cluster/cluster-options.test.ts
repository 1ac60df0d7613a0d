import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/base/clock.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import { checkCluster } from './cluster-options.ts';

const state = new MemoryState(systemClock, { isShared: true });
const keys = ['a key that all gateways share'];
const advertise = 'http://10.0.0.7:8471';
const nodes = { a: 'http://10.0.0.7:8471', b: 'http://10.0.0.8:8471' };

describe('the options of gateways that serve as one', () => {
  it.each([
    ['`listen` is missing', { advertise }, { keys, state }],
    ['needs `keys`', { listen: 1, advertise }, { state }],
    ['needs `keys`', { listen: 1, advertise }, { keys: [], state }],
    ['needs a shared `state`', { listen: 1, advertise }, { keys }],
    ['needs a shared `state`', { listen: 1, advertise }, { keys, state: new MemoryState(systemClock) }],
    ['`advertise` is missing', { listen: 1 }, { keys, state }],
    ['`advertise` must be a URL', { listen: 1, advertise: '10.0.0.7:8471' }, { keys, state }],
    ['`self` must say', { listen: 1, nodes }, { keys }],
    ['`self` must say', { listen: 1, nodes, self: 'c' }, { keys }],
    ['must be letters', { listen: 1, nodes: { 'a.b': nodes.a }, self: 'a.b' }, { keys }],
    ['`nodes.b` must be a URL', { listen: 1, nodes: { ...nodes, b: 'x' }, self: 'a' }, { keys }],
  ])('are refused with the reason: %s', (reason, options, around) => {
    expect(() => checkCluster(options, around)).toThrow(reason);
  });

  it('are accepted with a shared state, or with a list', () => {
    checkCluster({ listen: 1, advertise }, { keys, state });
    checkCluster({ listen: 1, nodes, self: 'a' }, { keys });
  });
});
