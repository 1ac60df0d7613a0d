import { expect, it } from 'vitest';
import { flow } from '../define.ts';
import { fold } from '../fold.ts';
import type { JournalEntry } from '../journal.ts';
import { BodyRun } from './body-run.ts';

const TS = 1_700_000_000_000;
const start: JournalEntry = { t: 'start', input: {}, seed: 'A'.repeat(22), ts: TS };

it('cleans up also where the session was ended after the body had begun to', async () => {
  const saga = flow({ name: 'saga', description: 'Fails' }, async (ask) => {
    try {
      throw new Error('no');
    } finally {
      await ask.step('clean', () => 'done', { effect: 'retry', cleanup: true });
    }
  });
  // Its process has died before it had cleaned up, and then the user cancelled.
  const entries: JournalEntry[] = [
    start,
    { t: 'int', k: 'clean', idem: 'one', ts: TS + 1 },
    { t: 'end', why: 'cancelled', ts: TS + 2 },
  ];
  const run = new BodyRun({ flow: saga, folded: fold(entries), sessionId: 's' }, { now: TS + 3 });
  const rest = await run.next();
  expect(rest).toMatchObject({ kind: 'steps', steps: [{ spec: { key: 'clean' } }] });
});
