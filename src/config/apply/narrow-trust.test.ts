import { expect, it } from 'vitest';
import type { AskConfig, ParleyConfig } from '../config.ts';
import { narrowTrust } from './narrow-trust.ts';

type Trust = AskConfig['trust'];

const trustIn = (file: Trust, own: Trust, auth?: ParleyConfig['auth']): Trust => {
  const ask: AskConfig | undefined = file && { channels: ['page'], trust: file };
  return narrowTrust({ ...(ask && { ask }), ...(auth && { auth }) } as ParleyConfig, own)?.trust;
};

it.each<[says: string, file: Trust, own: Trust, outcome: Trust]>([
  ['a file that trusts everybody gets what the user has', 'all', ['stdio'], ['stdio']],
  ['a user who says nothing trusts stdio alone', 'all', undefined, ['stdio']],
  ['a client that the user does not trust is left out', ['stdio', 'key:evil'], ['stdio', 'key:mine'], ['stdio']],
  ['a file may name fewer', [], ['stdio', 'key:mine'], []],
  ['a user who trusts nobody is asked in no form', undefined, [], []],
  ['a user who trusts everybody leaves it to the file', ['key:any'], 'all', ['key:any']],
  ['nothing changes where nothing is said', undefined, undefined, undefined],
])('%s', (_, file, own, outcome) => {
  expect(trustIn(file, own)).toEqual(outcome);
});

it('the names of keys count only if the file does not give keys of its own', () => {
  const own: Trust = ['stdio', 'key:mine'];
  expect(trustIn(['key:mine'], own)).toEqual(['key:mine']);
  expect(trustIn(['key:mine'], own, { keys: [{ name: 'mine', key: 'x' }] })).toEqual([]);
  expect(trustIn('all', own, { issuers: [{ issuer: 'https://evil.example' }] })).toEqual(['stdio']);
});
