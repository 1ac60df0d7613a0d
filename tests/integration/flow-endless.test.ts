// Bodies that never let go of the thread, in a process of their own: the watchdog ends them, and the others go on.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../fixtures/programs/endless-flows.mjs', import.meta.url));
const ALL = ['promises', 'values', 'rejections', 'caught', 'synchronous', 'first', 'rule'];

describe('a loop without an end in a body', () => {
  it.each(['development', 'production'])(
    'fails its session with the line in the log, and the others go on (%s)',
    async (NODE_ENV) => {
      const LOOPS = ALL.filter((name) => name !== 'values' || NODE_ENV === 'production');
      const run = promisify(execFile)(process.execPath, [PROGRAM], {
        env: { ...process.env, NODE_ENV },
        timeout: 100_000,
      });
      const { stdout, stderr } = await run;
      const [good, ...lines] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { tool: string })
        .toReversed();
      expect(lines.toReversed()).toEqual(LOOPS.map((tool) => ({ tool, state: 'error', failure: 'FLOW_MISUSED' })));
      expect(good).toEqual({ tool: 'good', result: ['x', 1, 'y'] });
      const places = stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { event: string; where: string })
        .map(({ event, where }) => [event, where.replace(/.*endless-flows\.mjs:\d+:\d+/, 'the line')]);
      expect(places).toEqual(LOOPS.map(() => ['flow.failed', 'the line']));
    },
    120_000,
  );
});
