import { expect, it } from 'vitest';
import { en } from '../locales/en.ts';
import { renderPairing } from './render-pairing.ts';

const login = { host: 'login.example.com', isOther: false };

it('pairing is folded away where people log in, and open for a code or after a wrong one', () => {
  const page = { token: 't', words: en };
  expect(renderPairing(page)).toMatch(/<h1>Pair this browser/);
  expect(renderPairing(page)).not.toContain('<details');
  expect(renderPairing({ ...page, login })).toMatch(/<h1>Log in[^]*<details>\s*<summary>Pair this browser/);
  expect(renderPairing({ ...page, login, code: 'AB12' })).toContain('<details open>');
  expect(renderPairing({ ...page, login, problem: 'wrong' })).toContain('<details open>');
});
