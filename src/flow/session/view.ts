// A session as it is shown to its owner.
import type { AnyFlow } from '../define.ts';
import { Run } from '../engine/run.ts';
import { toField } from '../engine/spec.ts';
import { fold } from '../fold.ts';
import type { AnswerEntry, Header } from '../journal.ts';
import type { Prompt, PromptType } from '../../protocol/prompt.ts';
import type { Question } from '../question/question.ts';
import { isObject } from '../../protocol/message.ts';
import { isSecretRef } from './secrets.ts';
import { isEnded } from '../store/store.ts';
import type { StoredSession } from '../store/store.ts';

export interface PastTurn {
  turnId: number;
  prompt: Prompt;
  response: { value?: unknown; action?: string; timestamp: number };
  timestamp: number;
}

export interface StateView {
  header: Header;
  history: PastTurn[];
  questions: Question[];
  /** What was given up front and answered so far, without secrets. */
  data: Record<string, unknown>;
}

const GONE = (header: Header): StateView => ({ header, history: [], questions: [], data: {} });

export async function toView({ header, entries }: StoredSession, flow: AnyFlow | undefined): Promise<StateView> {
  if (isEnded(header) || entries.length === 0) return GONE(header);
  const folded = fold(entries);
  const answers = folded.told.filter((entry): entry is AnswerEntry => entry.t === 'ans' && entry.a > 0);
  const prompts = answers.length > 0 && flow ? await promptsOf(header, flow, folded) : new Map<string, Prompt>();
  const history = answers.map((entry, turnId) => ({
    ...{ turnId, timestamp: entry.ts, response: toResponse(entry) },
    prompt: prompts.get(entry.k) ?? { type: (entry.ty || 'text') as PromptType, message: entry.k },
  }));
  return {
    header,
    history,
    questions: header.current as Question[],
    data: toData(folded, header.current as Question[]),
  };
}

/** The words of questions are not written down: the body is asked for them. */
async function promptsOf(header: Header, flow: AnyFlow, folded: ReturnType<typeof fold>): Promise<Map<string, Prompt>> {
  const { id: sessionId, locale, lastActivityAt: now } = header;
  let stalled = (_: undefined): void => {};
  const onStall = () => stalled(undefined);
  const run = new Run({ flow, folded, sessionId, locale, incoming: [], now, checks: 'off', onStall });
  await new Promise<unknown>((resolve) => {
    void run.next().then(resolve);
    stalled = resolve;
  });
  const tongue = { catalogue: flow.options.messages, locale: header.locale };
  return new Map(run.answered.map((spec) => [spec.key, toField(spec, tongue).prompt]));
}

function toResponse({ v, no, ts }: AnswerEntry): PastTurn['response'] {
  return { ...(no === undefined ? !isSecretRef(v) && v !== undefined && { value: v } : { action: no }), timestamp: ts };
}

function toData({ start, told }: ReturnType<typeof fold>, current: Question[]): Record<string, unknown> {
  const given = isObject(start.input) ? Object.entries(start.input) : [];
  const answered = told.flatMap((entry) =>
    entry.t === 'ans' && entry.v !== undefined ? [[entry.k, entry.v] as const] : [],
  );
  const secrets = new Set([
    ...answered.flatMap(([key, value]) => (isSecretRef(value) ? [key] : [])),
    ...current.flatMap(({ key, secret }) => (secret ? [key] : [])),
  ]);
  return Object.fromEntries([...given, ...answered].filter(([key]) => !secrets.has(key)));
}
