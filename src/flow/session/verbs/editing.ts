// Takes in the new value of an answer that does not stand in the journal itself: a secret, or a file. Like the first one it is checked as
// its question was put, and kept apart; a reference that comes from outside is never believed.
import { Run } from '../../engine/run.ts';
import { toField } from '../../engine/spec.ts';
import type { Spec } from '../../engine/spec.ts';
import { fold } from '../../fold.ts';
import type { AnyFlow } from '../../define.ts';
import type { Entry } from '../../journal.ts';
import { checkAnswer } from '../../question/check.ts';
import type { Complaint } from '../../question/question.ts';
import type { StoredSession } from '../../store/store.ts';
import { keepApart } from '../values/secrets.ts';
import type { Setup } from '../setup.ts';

type Edit = Extract<Entry, { t: 'edit' }>;

interface Editing {
  flow: AnyFlow;
  stored: StoredSession;
  entry: Edit;
}

export async function takeEdit(
  setup: Setup,
  { flow, stored, entry }: Editing,
): Promise<{ entry: Edit } | { complaint: Complaint }> {
  const spec = await specOf(setup, { flow, stored, entry });
  const isSecret = spec?.options.secret === true;
  if (!spec || (spec.kind !== 'file' && !isSecret)) return { entry };
  const checked = checkAnswer(
    entry.v,
    toField(spec, { catalogue: flow.options.messages, locale: stored.header.locale }),
  );
  if ('complaint' in checked) return checked;
  const apart = await keepApart(setup, stored.header, { isSecret, value: checked.value });
  return { entry: apart ? { ...entry, v: apart.ref } : entry };
}

/** The question as the body asks it; undefined where it is not asked any more. */
async function specOf(setup: Setup, { flow, stored, entry }: Editing): Promise<Spec | undefined> {
  const { id: sessionId, locale } = stored.header;
  const folded = fold(stored.entries);
  const run = new Run({ flow, folded, sessionId, locale, incoming: [], checks: 'off', now: setup.clock.now() });
  await run.next();
  return run.answered.find((spec) => spec.key === entry.k);
}
