import { describe, expect, it } from 'vitest';
import { readRaw } from './raw-message.ts';
import { skipString } from './string-skip.ts';

const GOOD = ['a', 'bcdef', ' ', 'é', '😀', '\u007f', '\\\\', '\\"', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t'];
const STOPS = ['"', '\\u0041', '\\uD83D\\uDE00', '\u0000', '\u001f', '\n', '\\x', '\\u12', '\\\n', '\\é', ''];

/** The same numbers in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function textOf(random: (below: number) => number, most: number): string {
  let text = '';
  for (let left = random(most); left > 0; left--) text += GOOD[random(GOOD.length)];
  return text;
}

describe('the program for long strings', () => {
  it('stops between two characters, not behind what it cannot judge', () => {
    const random = randomFrom(1);
    let crossed = 0;
    for (let round = 0; round < 3000; round++) {
      const inside = Buffer.from(textOf(random, 400));
      const rest = STOPS[random(STOPS.length)]! + 'x'.repeat(random(200));
      const bytes = Buffer.concat([inside, Buffer.from(rest)]);
      const at = skipString(bytes, 0);
      const beginnings = new Set<number>();
      for (let next = 0; next <= inside.length; next += inside[next] === 0x5c ? 2 : 1) beginnings.add(next);
      const isPlain = rest[0] === 'x' || rest === '';
      expect(isPlain ? at >= inside.length || beginnings.has(at) : beginnings.has(at), bytes.toString()).toBe(true);
      expect(inside.length - at, bytes.toString()).toBeLessThanOrEqual(2 * 64);
      crossed += at;
    }
    expect(crossed).toBeGreaterThan(100_000); // it runs here at all
  });

  it('accepts the same messages as JSON.parse, whatever stands in a long string', () => {
    const random = randomFrom(2);
    for (let round = 0; round < 1500; round++) {
      const stop = random(3) === 0 ? STOPS[random(STOPS.length)]! : '';
      const text = textOf(random, 900) + stop + textOf(random, 900);
      const bytes = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"text":"${text}","n":[1]}}`);
      const raw = readRaw(bytes, { maxDepth: 10 });
      let parsed: unknown;
      try {
        parsed = JSON.parse(bytes.toString());
      } catch {
        parsed = undefined;
      }
      const { result } = (parsed ?? {}) as { result?: unknown };
      expect(raw === undefined, bytes.toString()).toBe(result === undefined);
      if (raw) expect(JSON.parse(JSON.stringify(raw.result))).toEqual(result);
    }
  });
});
