import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../kernel/base/errors.ts';
import { fromCursor, toCursor, toPage } from './list-pages.ts';

describe('pages', () => {
  it('walk through every item once and in order, whatever the size', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (items, size) => {
        const seen: number[] = [];
        let cursor: string | undefined;
        do {
          const page = toPage(items, cursor, size);
          seen.push(...page.items);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        expect(seen).toEqual(items);
      }),
    );
  });

  it('pages have cursors that are base64 of an offset', () => {
    expect(toPage([1, 2, 3], undefined, 2)).toEqual({ items: [1, 2], nextCursor: btoa('{"offset":2}') });
    expect(toPage([1, 2, 3], btoa('{"offset":2}'), 2)).toEqual({ items: [3] });
    fc.assert(fc.property(fc.nat(), (offset) => fromCursor(toCursor(offset)) === offset));
  });

  it('hold 100 items unless told otherwise', () => {
    expect(toPage(Array.from({ length: 150 }), undefined).items).toHaveLength(100);
  });

  it.each(['optional-cursor', '', btoa('{"offset":-1}'), btoa('{"offset":1.5}'), btoa('[1]'), btoa('{"offset":4}')])(
    'refuse the cursor %j',
    (cursor) => {
      const refused = expect.objectContaining({ details: { parameter: 'cursor', error: 'Invalid cursor' } });
      expect(() => toPage([1, 2, 3], cursor, 2)).toThrow(refused as GatewayError);
    },
  );

  it('never throw anything but a refusal, whatever the cursor', () => {
    fc.assert(
      fc.property(fc.string(), (cursor) => {
        try {
          toPage([1, 2, 3], cursor, 2);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError);
        }
      }),
    );
  });
});
