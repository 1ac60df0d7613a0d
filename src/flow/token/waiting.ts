// The questions that a session waits with, found again by replaying its body: they are not in its token.
import { Run } from '../engine/run.ts';
import { fold } from '../fold.ts';
import type { Question } from '../question/question.ts';
import type { Sessions } from '../session/sessions.ts';
import { toQuestions } from '../session/to-questions.ts';
import type { StoredSession } from '../store/store.ts';

/** Together with those that were put ahead, as they are when the session is driven. */
export async function questionsOf(sessions: Sessions, { header, entries }: StoredSession): Promise<Question[]> {
  if (header.state !== 'waiting_user') return [];
  const flow = sessions.flowOf(header);
  const { next } = await sessions.explored(flow);
  const { id: sessionId, locale, lastActivityAt: now } = header;
  let stalled = (_: undefined): void => {};
  const onStall = () => stalled(undefined);
  const told = { flow, folded: fold(entries), sessionId, locale, incoming: [], now, next };
  const run = new Run({ ...told, virtual: sessions.setup.virtual, checks: 'off', onStall });
  const rest = await new Promise<Awaited<ReturnType<Run['next']>> | undefined>((resolve) => {
    void run.next().then(resolve);
    stalled = resolve;
  });
  // Anything else: the body is another one than it was. The turn that follows finds that out, and says so.
  return rest?.kind === 'asks' ? toQuestions(run, rest.asks, new Map()) : [];
}
