import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { createMemoryEventStore } from './session-stream.ts';
import type { StoredEvent } from '../../eras/serve/serve-context.ts';

const limits = { ...DEFAULT_LIMITS, maxEvents: 3, maxEventBytes: 100 };
const event = (stream: string, sequence: number, text = '') => ({ stream, sequence, text });

it('the event store returns the later events of a stream, in order', () => {
  const store = createMemoryEventStore(DEFAULT_LIMITS);
  for (const one of [event('g0', 1), event('p1', 1), event('g0', 2), event('g0', 3), event('p1', 2)]) store.append(one);
  expect(store.after('g0', 1)).toEqual([event('g0', 2), event('g0', 3)]);
  expect(store.after('p1', 0)).toEqual([event('p1', 1), event('p1', 2)]);
  expect(store.after('g0', 3)).toEqual([]);
  expect(store.after('nope', 0)).toEqual([]);
});

it('the event store keeps the newest events, by number and by size', () => {
  const store = createMemoryEventStore(limits);
  for (let sequence = 1; sequence <= 5; sequence++) store.append(event('g0', sequence));
  expect(store.after('g0', 0)).toHaveLength(3);
  store.append(event('g0', 6, 'x'.repeat(90)));
  store.append(event('g0', 7, 'x'.repeat(20)));
  expect((store.after('g0', 0) as StoredEvent[]).map(({ sequence }) => sequence)).toEqual([7]);
});

it('the event store keeps the last event even if it is too large', () => {
  const store = createMemoryEventStore(limits);
  store.append(event('g0', 1, 'x'.repeat(1000)));
  expect(store.after('g0', 0)).toHaveLength(1);
});

it('the event store never exceeds its limits', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(150)), (sizes) => {
      const store = createMemoryEventStore(limits);
      sizes.forEach((size, index) => store.append(event('g0', index, 'x'.repeat(size))));
      const kept = store.after('g0', -1) as StoredEvent[];
      expect(kept.length).toBeLessThanOrEqual(3);
      const bytes = kept.reduce((sum, { text }) => sum + text.length, 0);
      expect(kept.length <= 1 || bytes <= 100).toBe(true);
    }),
  );
});
