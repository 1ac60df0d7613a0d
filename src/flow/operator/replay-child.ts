// The child process that replays open sessions against new code. It is confined: it has no I/O and no store. The parent sends it journals one
// by one, and it answers with a verdict on each.
import { messageOf } from '../../kernel/base/errors.ts';
import { describeImportError } from '../../kernel/files/import-fresh.ts';
import type { AnyFlow } from '../define.ts';
import { enterSandbox, loadInSandbox, NO_FLOWS } from '../explore/sandbox.ts';
import type { SandboxFailure } from '../explore/sandbox-process.ts';
import type { StoredSession } from '../store/store.ts';
import { replayVerdict } from './replay-verdict.ts';
import type { ReplayVerdict } from './replay-verdict.ts';

const send = process.send!.bind(process);
/** First the names of the flows in the file, then the verdicts. */
const tell = (report: { flows: string[] } | { verdict: ReplayVerdict } | SandboxFailure): void => void send(report);
const [file = ''] = process.argv.slice(2);
const sessions: StoredSession[] = [];
let wake = (): void => {};

process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
process.on('message', (stored: StoredSession) => {
  sessions.push(stored);
  wake();
});
const guard = await enterSandbox();
const flows = await loaded();
if (flows) for (;;) await answerNext(flows);

async function loaded(): Promise<AnyFlow[] | undefined> {
  try {
    const found = await loadInSandbox(file);
    if (guard.violation) tell({ violation: guard.violation });
    else if (found.length === 0) tell({ failed: NO_FLOWS });
    else tell({ flows: found.map(({ name }) => name) });
    return found;
  } catch (thrown) {
    tell(guard.violation ? { violation: guard.violation } : { failed: describeImportError(thrown) });
    return undefined;
  }
}

async function answerNext(known: AnyFlow[]): Promise<void> {
  const stored = sessions.shift();
  if (!stored) return new Promise((resolve) => (wake = resolve));
  try {
    const flow = known.find(({ name }) => name === stored.header.tool)!;
    const verdict = await replayVerdict(flow, stored);
    tell(guard.violation ? { violation: guard.violation } : { verdict });
  } catch (thrown) {
    tell({ failed: messageOf(thrown) });
  }
}
