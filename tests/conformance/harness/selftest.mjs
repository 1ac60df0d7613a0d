// The comparison must be able to fail: node --test tests/conformance/harness/selftest.mjs (npm test runs it). Needs no suite.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRuns, differs, toRow } from './compare.mjs';
import { inLanes } from './lanes.mjs';

const REASON = 'because';
const KNOWN = [{ scenario: 'polling', upstream: 'stdio', reason: REASON }];
const row = (scenario, ...found) => ({ scenario, revision: 'R', scored: true, result: 'passed', found });
const through = (rows, upstream = 'stdio') => [{ upstream, server: 'R', rows }];
const resultsOf = (direct, rows, upstream) =>
  toRow(direct, through(rows, upstream), KNOWN).cells.map(({ result }) => result);

test('what came out the same is the same', () => {
  assert.deepEqual(resultsOf(row('a', 'x SUCCESS'), [row('a', 'x SUCCESS')]), ['same']);
});

test('a check that came out otherwise, is missing or is new is a difference', () => {
  for (const found of [['x FAILURE'], [], ['x SUCCESS', 'y FAILURE']]) {
    assert.deepEqual(resultsOf(row('a', 'x SUCCESS'), [row('a', ...found)]), ['different']);
  }
  assert.deepEqual(resultsOf(row('a', 'x SUCCESS'), []), ['different']);
  assert.deepEqual(resultsOf(row('a', 'x SUCCESS'), [{ ...row('a'), found: undefined }]), ['different']);
});

test('a difference is expected only where the list says so', () => {
  assert.deepEqual(resultsOf(row('polling', 'x SUCCESS'), [row('polling')]), ['expected']);
  assert.deepEqual(resultsOf(row('polling', 'x SUCCESS'), [row('polling')], 'http'), ['different']);
});

test('an entry of the list that nothing needs is stale', () => {
  const compared = (found) =>
    compareRuns([toRow(row('polling', 'x SUCCESS'), through([row('polling', ...found)]), KNOWN)], {
      all: true,
      known: KNOWN,
    });
  assert.deepEqual(compared(['x SUCCESS']), { passed: 1, failed: 0, skipped: 0, stale: KNOWN });
  assert.deepEqual(compared([]), { passed: 0, failed: 0, skipped: 1, stale: [] });
});

test('what was looked at again is compared with the direct run beside it', () => {
  const again = { ...row('a', 'x WARNING'), looks: 1, beside: row('a', 'x WARNING') };
  assert.equal(differs(again, [row('a', 'x SUCCESS')], { upstream: 'stdio', server: 'R' }), false);
  assert.equal(differs(row('a', 'x WARNING'), [row('a', 'x SUCCESS')], { upstream: 'stdio', server: 'R' }), true);
});

test('lanes keep the order of results and their number', async () => {
  let [running, most] = [0, 0];
  const jobs = [1, 2, 3, 4, 5].map((number) => async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return number;
  });
  assert.deepEqual(await inLanes(2, jobs), [1, 2, 3, 4, 5]);
  assert.equal(most, 2);
});
