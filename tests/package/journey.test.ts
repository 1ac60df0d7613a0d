// One call through the built gateway, traced by coverage: docs/journey.md lists the files that it runs through, and the way may
// not become longer. Code that needs more raises the figures here, and says what for.
import { beforeAll, describe, expect, it } from 'vitest';
import { read } from '../helpers/files.ts';
import { linksIn } from '../helpers/links.ts';
import { traceCall } from '../helpers/trace-call.ts';
import type { CallTrace } from '../helpers/trace-call.ts';

const MOST_FILES = 80;
const MOST_CALLS = 506;

/** In a slow moment a timer may run during the call, and is in the trace. */
const MOST_TRIES = 3;

let trace: CallTrace;

beforeAll(async () => {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    trace = await traceCall('2025-11-25', '2026-07-28');
    if (callsOf(trace) <= MOST_CALLS) return;
  }
});

function callsOf(one: CallTrace): number {
  return [...one.values()].flat().reduce((sum, { count }) => sum + count, 0);
}

describe('a call from a client of 2025-11-25 over HTTP through three steps to a server of 2026-07-28 on stdio', () => {
  it('runs the files that docs/journey.md lists, and no others', () => {
    const [, listed = ''] = /<!-- journey:begin -->([\s\S]*)<!-- journey:end -->/.exec(read('docs/journey.md')) ?? [];
    const files = linksIn(listed).map((link) => link.replace('../', ''));
    expect([...trace.keys()].sort()).toEqual(files.sort());
  });

  it('runs through no more files and functions than it did', () => {
    expect(trace.size).toBeLessThanOrEqual(MOST_FILES);
    expect(callsOf(trace)).toBeLessThanOrEqual(MOST_CALLS);
  });
});
