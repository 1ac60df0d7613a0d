// Calls of the built package, traced by coverage: docs/journey.md lists the files that a call through the gateway runs through, and no
// way may become longer. Code that needs more raises the figures here, and says what for; code that needs less lowers them.
import { beforeAll, describe, expect, it } from 'vitest';
import { read } from '../helpers/files.ts';
import { linksIn } from '../helpers/links.ts';
import { countGatewayObjects, traceGateway, traceServer } from '../helpers/trace-call.ts';
import type { CallTrace, MadeObjects } from '../helpers/trace-call.ts';

/** The aim is 60 files and 420 calls of functions. */
const MOST_OF_CALL = { files: 58, calls: 386 };
/** The aim is 70 files. */
const MOST_OF_QUESTION = { files: 69, calls: 700 };
/** The aim is 28 files. An exchange is its own cancellation, which is one object less and one call more. */
const MOST_OF_SERVER = { files: 22, calls: 107 };
/** The aim is 50 files. The number of calls differs a little with the time. */
const MOST_OF_ANSWER = { files: 51, calls: 515 };

/**
 * The objects of the same call between the client's dialect and the pipe, by what makes them; the aim is 9 instances. Counted are all that
 * are made in src while a warm call runs, on its way there and back: instances of our classes, object and array literals, and closures.
 * Not counted: what Node and the language make (promises are in call-promises.test.ts); what `accept` and `codec` make, which are the two
 * ends; and the message itself: its params and the request as they are written, and its result as text.
 */
const MOST_MADE = { instance: 9, literal: 18, closure: 30 };
const ENDS = /^src\/(gateway\/(accept|codec)|protocol\/raw)\//;
const MESSAGE = new Set(['EncodedParams', 'OutgoingRequest', 'RawText']);

/** In a slow moment a timer may run during a call, and is in the trace. */
const MOST_TRIES = 3;

let gateway: Awaited<ReturnType<typeof traceGateway>>;
let server: Awaited<ReturnType<typeof traceServer>>;

beforeAll(async () => {
  [gateway, server] = await Promise.all([
    retry(
      () => traceGateway('2025-11-25', '2026-07-28'),
      ({ call, question }) => isWithin(call, MOST_OF_CALL) && isWithin(question, MOST_OF_QUESTION),
    ),
    retry(
      () => traceServer('2025-11-25', '2026-07-28'),
      ({ call, answer }) => isWithin(call, MOST_OF_SERVER) && isWithin(answer, MOST_OF_ANSWER),
    ),
  ]);
});

async function retry<T>(trace: () => Promise<T>, isShort: (traced: T) => boolean): Promise<T> {
  let traced = await trace();
  for (let tries = 1; tries < MOST_TRIES && !isShort(traced); tries++) traced = await trace();
  return traced;
}

function isWithin(trace: CallTrace, most: { files: number; calls: number }): boolean {
  const { files, calls } = sizeOf(trace);
  return files <= most.files && calls <= most.calls;
}

function sizeOf(trace: CallTrace): { files: number; calls: number } {
  return { files: trace.size, calls: [...trace.values()].flat().reduce((sum, { count }) => sum + count, 0) };
}

function expectWithin(trace: CallTrace, most: { files: number; calls: number }): void {
  const { files, calls } = sizeOf(trace);
  const advice =
    'more runs per message: do it once per connection, session or chain, or raise the figure here and say what for';
  expect(files, advice).toBeLessThanOrEqual(most.files);
  expect(calls, advice).toBeLessThanOrEqual(most.calls);
}

describe('a call from a client of 2025-11-25 over HTTP through three steps to a server of 2026-07-28 on stdio', () => {
  it('runs the files that docs/journey.md lists, and no others', () => {
    const [, listed = ''] = /<!-- journey:begin -->([\s\S]*)<!-- journey:end -->/.exec(read('docs/journey.md')) ?? [];
    const files = linksIn(listed).map((link) => link.replace('../', ''));
    expect([...gateway.call.keys()].sort()).toEqual(files.sort());
  });

  it('runs through no more files and functions than it did', () => expectWithin(gateway.call, MOST_OF_CALL));

  it('runs through no more files and functions than it did when the server asks a question that the client answers', () =>
    expectWithin(gateway.question, MOST_OF_QUESTION));
});

describe('the objects of that call', () => {
  let made: MadeObjects[];

  beforeAll(async () => {
    const counted = await countGatewayObjects('2025-11-25', '2026-07-28');
    made = counted.filter(({ source, name }) => !ENDS.test(source) && !MESSAGE.has(name));
  });

  it.each(['instance', 'literal', 'closure'] as const)('no more of the kind %s are made than before', (kind) => {
    const found = made.filter((one) => one.kind === kind);
    const list = found.map(({ count, name, source }) => `${count} ${name} ${source}`).join('\n');
    expect(
      found.reduce((sum, { count }) => sum + count, 0),
      list,
    ).toBeLessThanOrEqual(MOST_MADE[kind]);
  });
});

describe('a call from a client of 2025-11-25 over HTTP to a tool of a server without a gateway', () => {
  it('runs through no more files and functions than it did', () => expectWithin(server.call, MOST_OF_SERVER));
});

describe('an answer from a client of 2026-07-28 over HTTP to a flow whose body waits in memory', () => {
  it('runs through no more files and functions than it did until the next question is in the reply', () =>
    expectWithin(server.answer, MOST_OF_ANSWER));
});
