// The state of a session as its owner sees it.
import type { AnyFlow } from '../../define.ts';
import { BodyRun } from '../../engine/body-run.ts';
import { pinOf, toQuestionField } from '../../engine/question-spec.ts';
import { fold } from '../../fold.ts';
import type { AnswerEntry, Header, StartEntry } from '../../journal.ts';
import type { Prompt, PromptType } from '../../../kernel/form/prompt.ts';
import type { Question } from '../../question/question.ts';
import { isObject } from '../../../kernel/message.ts';
import type { SessionOutcome } from '../turn/ended-record.ts';
import { callerQuestions, isEnded } from '../../header.ts';
import { isSecretRef } from '../values/secrets.ts';
import type { StoredSession } from '../../store/store.ts';

interface PastTurn {
  turnId: number;
  prompt: Prompt;
  response: { value?: unknown; action?: string; timestamp: number; metadata?: Record<string, unknown> };
  timestamp: number;
}

export interface StateView {
  header: Header;
  history: PastTurn[];
  /** How many questions the caller has answered, without those of other people. */
  answered: number;
  questions: Question[];
  /** Arguments and answers so far, without secrets. */
  data: Record<string, unknown>;
  /** How it ended, until its client has acknowledged it. */
  outcome?: SessionOutcome | undefined;
}

const GONE = (header: Header): StateView => ({ header, history: [], answered: 0, questions: [], data: {} });

export async function toStateView({ header, entries }: StoredSession, flow: AnyFlow | undefined): Promise<StateView> {
  if (isEnded(header) || entries.length === 0) return GONE(header);
  const folded = fold(entries);
  const told = folded.entries.filter((entry) => entry.t === 'ans');
  const isClear = told.every(({ moved, q, a }) => !moved && (q !== undefined || a === 0));
  const replayed = isClear || !flow ? undefined : await replay(header, flow, folded);
  const answers = told.filter((entry) => !entry.moved || replayed?.kept.has(entry));
  const history = answers
    .filter(({ a }) => a > 0)
    .map((entry, turnId) => ({
      turnId,
      timestamp: entry.ts,
      response: toResponse(entry),
      prompt: toShown(entry, replayed?.shown.get(entry.k)),
    }));
  return {
    header,
    history,
    answered: answers.filter(({ a, who }) => a > 0 && who === undefined).length,
    questions: callerQuestions(header),
    data: toData(folded.start, answers, header.current as Question[]),
  };
}

/** The prompt that was shown. Tokens do not store it, so the body's current prompt is used if its pin is the same. */
function toShown({ q, p, k, ty }: AnswerEntry, now: { prompt: Prompt; pin: string } | undefined): Prompt {
  if (q) return q;
  if (now && (p === undefined || p === now.pin)) return now.prompt;
  return { type: TYPES.has(ty) ? (ty as PromptType) : 'custom', message: k };
}

const TYPES: ReadonlySet<string> = new Set(['text', 'choice', 'confirm', 'number', 'date', 'file', 'custom']);

/** Replays the journal, to find out which answers are still valid and what was shown. */
async function replay(header: Header, flow: AnyFlow, folded: ReturnType<typeof fold>) {
  const { id: sessionId, locale, lastActivityAt: now } = header;
  const run = new BodyRun({ flow, folded, sessionId, locale }, { now, checks: 'off' });
  await run.nextUnlessStalled();
  const localization = { catalogue: flow.options.messages, locale: header.locale };
  const shown = new Map(
    run.answered.map((spec) => [
      spec.key,
      { prompt: toQuestionField(spec, localization).prompt, pin: pinOf(spec, localization) },
    ]),
  );
  return { kept: run.kept, shown };
}

function toResponse({ v, no, ts, at, meta }: AnswerEntry): PastTurn['response'] {
  const said = no === undefined ? !isSecretRef(v) && v !== undefined && { value: v } : { action: no };
  return { ...said, timestamp: at ?? ts, ...(meta && { metadata: meta }) };
}

/** Leaves out secrets, and answers to questions that are open again. */
function toData({ input }: StartEntry, answers: AnswerEntry[], current: Question[]): Record<string, unknown> {
  const given = isObject(input) ? Object.entries(input) : [];
  const answered = answers.flatMap(({ k, v }) => (v === undefined ? [] : [[k, v] as const]));
  const hidden = new Set([
    ...answered.flatMap(([key, value]) => (isSecretRef(value) ? [key] : [])),
    ...current.map(({ key }) => key),
  ]);
  return Object.fromEntries([...given, ...answered].filter(([key]) => !hidden.has(key)));
}
