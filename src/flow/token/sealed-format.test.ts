import { hkdfSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { toSessionKey } from './sealed-format.ts';

it('derives the key of a session as HKDF does', () => {
  for (let round = 0; round < 50; round++) {
    const [key, sid] = [Buffer.alloc(32, round), Buffer.alloc(16, 255 - round)];
    const expected = Buffer.from(hkdfSync('sha256', key, sid, 'mcp-parley/flow-token/f1', 32));
    expect(toSessionKey(key, sid)).toEqual(expected);
  }
});
