// Makes a call again. A tool that is not known to only read runs after a second yes.
import { useState } from 'preact/hooks';
import { NEEDS_YES } from '../calls/needs-yes.ts';
import type { CallLeg, CallRow } from '../views.ts';
import { act, now } from './api.tsx';
import { toHref } from './route.tsx';

export function RepeatCall({ row, leg }: { row: CallRow; leg: CallLeg | undefined }) {
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isDone, setDone] = useState(false);
  const [isBusy, setBusy] = useState(false);
  if (!row.isTool || row.server === null || !leg || now.value?.viewer.isOperator !== true) return null;
  const repeat = async (confirmed: string): Promise<void> => {
    setBusy(true);
    setDone(false);
    const refused = await act('repeat', { id: row.id, confirmed });
    setBusy(false);
    setProblem(refused);
    setDone(refused === undefined);
  };
  const isAsking = problem === NEEDS_YES;
  return (
    <div class="row" role="status">
      {isAsking ? (
        <>
          <span class="warn">{problem}</span>
          <button class="primary" disabled={isBusy} onClick={() => void repeat('yes')}>
            Run it again
          </button>
          <button onClick={() => setProblem(undefined)}>Leave it</button>
        </>
      ) : (
        <button disabled={isBusy} onClick={() => void repeat('')}>
          Repeat this call
        </button>
      )}
      {isDone && (
        <span>
          Called again: it is the newest of <a href={toHref('calls', { find: 'parley-console' })}>these calls</a>.
        </span>
      )}
      {problem !== undefined && !isAsking && <span class="problem">{problem}</span>}
    </div>
  );
}
