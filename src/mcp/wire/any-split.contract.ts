// A reader of bytes returns the same, however the bytes are split into chunks.
import * as fc from 'fast-check';
import { expect } from 'vitest';

interface SplitCheck {
  /** What the texts are made of. */
  parts: readonly string[];
  /** The range of the largest size that is read. */
  maxBytes: { min: number; max: number };
  read: (chunks: Buffer[], maxBytes: number) => unknown;
  runs?: number;
}

export function checkAnySplit({ parts, maxBytes, read, runs = 100 }: SplitCheck): void {
  const texts = fc.array(fc.constantFrom(...parts), { maxLength: 40 });
  const sizes = fc.array(fc.nat(9), { maxLength: 40 });
  const isSame = fc.property(texts, sizes, fc.integer(maxBytes), (texts, sizes, most) => {
    const bytes = Buffer.from(texts.join(''));
    const chunks: Buffer[] = [];
    let at = 0;
    for (const size of sizes) chunks.push(bytes.subarray(at, (at += size)));
    chunks.push(bytes.subarray(at));
    expect(read(chunks, most)).toStrictEqual(read([bytes], most));
  });
  fc.assert(isSame, { numRuns: runs });
}
