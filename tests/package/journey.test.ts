// docs/internals/journey.md lists the files that a call through the gateway runs through: a call of the built package, traced by coverage, shows that
// the page is true. How many there are is nobody's aim.
import { beforeAll, expect, it } from 'vitest';
import { read } from '../helpers/files.ts';
import { linksIn } from '../helpers/links.ts';
import { traceGateway } from '../helpers/trace-call.ts';

/** In a slow moment a timer may run during a call, and is in the trace. */
const MOST_TRIES = 3;

let files: string[];
let listed: string[];

beforeAll(async () => {
  const [, table = ''] =
    /<!-- journey:begin -->([\s\S]*)<!-- journey:end -->/.exec(read('docs/internals/journey.md')) ?? [];
  listed = linksIn(table)
    .map((link) => link.replace('../../', ''))
    .sort();
  for (let tries = 0; tries < MOST_TRIES && String(files) !== String(listed); tries++) {
    files = [...(await traceGateway('2025-11-25', '2026-07-28')).keys()].sort();
  }
});

it('a call from a client of 2025-11-25 over HTTP through three steps to a server of 2026-07-28 on stdio runs the files that docs/internals/journey.md lists, and no others', () => {
  expect(files).toEqual(listed);
});
