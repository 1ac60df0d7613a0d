// How long a gateway takes the answers to the questions of a server.
import { expect, it } from 'vitest';
import { readSuspended } from '../../../kernel/target.ts';
import { MAX_STATE_MS } from '../../../kernel/base/limits.ts';
import { META } from '../meta.ts';
import { toSuspension } from './answer-questions.ts';

it.each([
  [undefined, undefined],
  [{ [META.lasts]: 5000 }, 5000],
  [{ [META.lasts]: 1e300 }, MAX_STATE_MS],
  [{ [META.lasts]: -1 }, undefined],
  [{ [META.lasts]: 'for ever' }, undefined],
])('a server that says %j is waited for so long: %s', (_meta, lastsMs) => {
  const suspended = toSuspension({ inputRequests: {}, requestState: 'x', ...(_meta && { _meta }) });
  expect(readSuspended(suspended)).toEqual({ questions: {}, state: 'x', lastsMs });
});
