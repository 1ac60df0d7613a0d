import { expect, it } from 'vitest';
import { isSameSecret, sha256 } from './lazy-crypto.ts';

it('sha256 is the digest of FIPS 180-4, in the wanted encoding', () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(sha256('abc', 'hex')).toBe(abc);
  expect(sha256(Buffer.from('abc'), 'base64url')).toBe(Buffer.from(abc, 'hex').toString('base64url'));
});

it('isSameSecret compares texts of any length', () => {
  expect(isSameSecret('secret', 'secret')).toBe(true);
  expect([isSameSecret('secret', 'secrex'), isSameSecret('secret', 'secret '), isSameSecret('', 'x')]).toEqual([
    false,
    false,
    false,
  ]);
});
