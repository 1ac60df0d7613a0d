// `parley flows`: inspects, answers, cancels, retries and replays the sessions in a store.
import { findSession } from '../../../flow/operator/find-sessions.ts';
import type { ListedSession, SessionStore } from '../../../flow/store/store.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { FlowsCommand } from '../../args/flow-commands.ts';
import { programName } from '../../program.ts';
import { formatError } from '../../terminal/format-error.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { actOnSession } from './act-on-session.ts';
import { listSessions } from './list-sessions.ts';
import type { FlowsContext } from './list-sessions.ts';
import { openStore } from './open-store.ts';
import type { OpenStore } from './open-store.ts';
import { replaySessions } from './replay-sessions.ts';
import { showSession } from './show-session.ts';

export async function runFlows(command: FlowsCommand, print: Printer): Promise<number> {
  let open: OpenStore | undefined;
  try {
    open = await openStore(command, { writes: WRITING.has(command.action) });
    return await act(open, { command, print, clock: systemClock });
  } catch (thrown) {
    print.problem(formatError(thrown));
    return 1;
  } finally {
    await open?.store.close();
  }
}

const WRITING: ReadonlySet<string> = new Set(['answer', 'cancel', 'retry']);

async function act(open: OpenStore, context: FlowsContext): Promise<number> {
  const { action, id } = context.command;
  if (action === 'ls') return listSessions(open, context);
  if (action === 'replay') return replaySessions(open, context);
  const one = await findOneSession(open.store, id!);
  return action === 'show' ? showSession(open, one, context) : actOnSession(open, one, context);
}

async function findOneSession(store: SessionStore, id: string): Promise<ListedSession> {
  const found = await findSession(store, id);
  if (!Array.isArray(found)) return found;
  if (found.length === 0) {
    throw new Error(
      `no session has the id ${id}, or it ended long ago. To see them: ${programName()} flows ls --state all`,
    );
  }
  throw new Error(`${id} is the beginning of several ids: ${found.join(', ')}. Give more of it.`);
}
