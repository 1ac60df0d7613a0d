// Receives the new value of an answer. A secret or file is checked against its question and stored as a blob, like the first one; a
// reference from a client is never trusted.
import { BodyRun } from '../../engine/body-run.ts';
import { toQuestionField } from '../../engine/question-spec.ts';
import type { QuestionSpec } from '../../engine/question-spec.ts';
import { fold } from '../../fold.ts';
import type { AnyFlow } from '../../define.ts';
import type { JournalEntry } from '../../journal.ts';
import { checkAnswer } from '../../question/check-answer.ts';
import type { Complaint } from '../../question/question.ts';
import type { StoredSession } from '../../store/store.ts';
import { storeApart } from '../values/secrets.ts';
import type { SessionContext } from '../session-context.ts';

type Edit = Extract<JournalEntry, { t: 'edit' }>;

interface Editing {
  flow: AnyFlow;
  stored: StoredSession;
  entry: Edit;
}

export async function receiveEdit(
  context: SessionContext,
  { flow, stored, entry }: Editing,
): Promise<{ entry: Edit } | { complaint: Complaint }> {
  const spec = await specOf(context, { flow, stored, entry });
  const isSecret = spec?.options.secret === true;
  if (!spec || (spec.kind !== 'file' && !isSecret)) return { entry };
  const checked = checkAnswer(
    entry.v,
    toQuestionField(spec, { catalogue: flow.options.messages, locale: stored.header.locale }),
  );
  if ('complaint' in checked) return checked;
  const apart = await storeApart(context, stored.header, { isSecret, value: checked.value });
  return { entry: apart ? { ...entry, v: apart.ref } : entry };
}

/** The question as the body asks it; undefined if it no longer does. */
async function specOf(context: SessionContext, { flow, stored, entry }: Editing): Promise<QuestionSpec | undefined> {
  const { id: sessionId, locale } = stored.header;
  const folded = fold(stored.entries);
  const run = new BodyRun({ flow, folded, sessionId, locale }, { checks: 'off', now: context.clock.now() });
  await run.next();
  return run.answered.find((spec) => spec.key === entry.k);
}
