// A process on the same machine takes over from one that was killed without waiting for its lease to run out: no time passes here.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { createSqliteStore, flow, FlowSessions } from 'mcp-parley/flow';
import { manualClock } from 'mcp-parley/testing';
import { ROOT } from '../helpers/files.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until, within } from '../helpers/until.ts';

const PROGRAM = join(ROOT, 'tests', 'fixtures', 'programs', 'hang-in-step.mjs');

test.skipIf(process.platform !== 'linux')(
  'a step is taken over as soon as its process is dead, and not before',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-dead-'));
    const path = join(folder, 'flows.db');
    const child = spawn(process.execPath, [PROGRAM, path], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    const { value: id } = await within(
      'the step',
      createInterface({ input: child.stdout })[Symbol.asyncIterator]().next(),
    );
    const clock = manualClock(Date.now());
    const store = await createSqliteStore({ path, clock });
    let runs = 0;
    const work = flow({ name: 'work' }, async (ask) => ask.step('hang', () => ++runs, { effect: 'retry' }));
    const sessions = new FlowSessions([work], { store, clock });
    await sessions.sweep();
    expect({ runs, lease: await store.lease(id, 'other', 1) }).toEqual({ runs: 0, lease: undefined });
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await within('its death', gone);
    await sessions.sweep();
    await until('the end', async () => (await store.load(id))?.header.state === 'completed');
    expect(runs).toBe(1);
    await sessions.close();
    await store.close();
    removeFolder(folder);
  },
);
