// A session in a store as the console shows it: a row of the list, and its journal in words.
import { conditionOf, earlyEndOf, isEnded, parkedReason } from '../../../flow/header.ts';
import type { Condition } from '../../../flow/header.ts';
import type { Header, JournalEntry } from '../../../flow/journal.ts';
import type { Question } from '../../../flow/question/question.ts';
import { SESSION_PREFIX } from '../../../flow/session-id.ts';
import { readOutcome, readTrail } from '../../../flow/session/turn/ended-record.ts';
import type { SessionContext } from '../../../flow/session/context/session-context.ts';
import type { ListedSession, StoredSession } from '../../../flow/store/store.ts';
import type { FlowLook } from '../../../kernel/flow/flow-desk.ts';
import type { FlowRow, FlowView } from '../../../kernel/flow/flow-views.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';
import { hasNoLogin, toFlowQuestion } from './flow-fields.ts';
import { formatText, formatTime, formatValue } from './format.ts';
import { wordsOfEntry } from './journal-words.ts';
import { aboutSession } from './list-sessions.ts';

const MAX_ENTRIES = 500;
const MAX_QUESTIONS = 50;
const SHOWN_ID = 12;

const TONES: Record<Condition, FlowRow['tone']> = {
  waiting: 'busy',
  working: 'good',
  parked: 'bad',
  ending: 'busy',
  completed: 'calm',
  cancelled: 'calm',
  failed: 'bad',
  expired: 'calm',
};

/** Its beginning, which `parley flows` takes as well. */
export function toShownId(id: string): string {
  return id.slice(SESSION_PREFIX.length, SESSION_PREFIX.length + SHOWN_ID);
}

export function toFlowRow(header: Header, context: SessionContext): FlowRow {
  const state = conditionOf(header);
  return {
    id: toShownId(header.id),
    tool: formatText(header.tool),
    state,
    tone: TONES[state],
    at: header.createdAt,
    last: header.lastActivityAt,
    about: secrets.mask(aboutSession(header, context)),
    who: hasNoLogin(header) ? 'without a login' : shortOwner(header),
    client: null,
    isStored: true,
  };
}

interface ReadSession {
  listed: ListedSession;
  stored: StoredSession;
  context: SessionContext;
  look: FlowLook;
  now: number;
}

export function toFlowView({ listed, stored, context, look, now }: ReadSession): FlowView {
  const { header } = stored;
  const isTheirOwn = look.peopleLogIn || !hasNoLogin(header);
  const kept = toKept(stored, context);
  const shown = kept.entries.slice(-MAX_ENTRIES);
  const isBare = kept.isBare || isTheirOwn;
  return {
    row: toFlowRow(header, context),
    facts: toFacts({ listed, header, context, now, isTheirOwn, note: kept.note }),
    cut: kept.cut + kept.entries.length - shown.length,
    entries: shown.map((entry) => {
      const [what, key, text] = wordsOfEntry(entry, isBare);
      return { at: entry.ts, what, key: formatText(key), text: secrets.mask(text) };
    }),
    questions: (header.current as Question[])
      .slice(0, MAX_QUESTIONS)
      .map((question) => toFlowQuestion(question, header, look)),
    waits: (header.waits ?? []).map(({ key, kind, until }) => ({ key: formatText(key), kind, until: until ?? null })),
    handed: header.handed ? handedWords(header) : null,
    actions: toActions(listed, header, now),
  };
}

interface KeptJournal {
  entries: readonly JournalEntry[];
  isBare: boolean;
  cut: number;
  note: string | undefined;
}

/** Of an ended session, what was kept. */
function toKept({ header, entries }: StoredSession, context: SessionContext): KeptJournal {
  if (!isEnded(header)) return { entries, isBare: false, cut: 0, note: undefined };
  const trail = readTrail(context, header);
  if (trail === undefined) return { entries: [], isBare: true, cut: 0, note: 'gone, as it has ended' };
  if (trail === 'sealed') return { entries: [], isBare: true, cut: 0, note: 'sealed; `flows.keys` opens it' };
  return { ...trail, note: trail.isBare ? 'without answers, as its server has no keys' : undefined };
}

function toFacts(session: {
  listed: ListedSession;
  header: Header;
  context: SessionContext;
  now: number;
  isTheirOwn: boolean;
  note: string | undefined;
}): [string, string][] {
  const { listed, header, context, now, isTheirOwn, note } = session;
  const outcome = isEnded(header) && !isTheirOwn ? readOutcome(context, header) : undefined;
  const isHeld = (listed.heldUntil ?? 0) > now;
  const facts: [string, string | undefined][] = [
    ['Version', header.version],
    ['Expires', isEnded(header) ? undefined : formatTime(header.expiresAt)],
    ['Held', isHeld ? 'a process works on it' : undefined],
    ['Parked', parkedReason(header)],
    ['Reason', header.reason],
    ['Not undone', header.notUndone?.join(', ')],
    ['Journal', note],
    ['Result', outcome && (outcome.failure ? outcome.failure.message : formatValue(outcome.result))],
    ['Answers', isTheirOwn ? 'not shown: they belong to a person who has logged in' : undefined],
  ];
  return facts.flatMap(([name, text]) =>
    text === undefined ? [] : [[name, secrets.mask(formatText(text))] satisfies [string, string]],
  );
}

function handedWords({ handed, parked }: Header): string {
  const what = handed!.answers.length > 0 ? 'An answer' : 'A request to try it again';
  const when = parked ? 'is kept until it is tried again' : 'waits for the server of the flow to take it';
  return `${what} of ${formatText(handed!.by)} ${when}.`;
}

function toActions({ heldUntil = 0 }: ListedSession, header: Header, now: number): FlowView['actions'] {
  const state = conditionOf(header);
  const canCancel = state === 'waiting' || state === 'working' || (state === 'parked' && !earlyEndOf(header));
  const canRetry = !isEnded(header) && state !== 'waiting' && heldUntil <= now;
  return [...(canRetry ? (['retry'] as const) : []), ...(canCancel ? (['cancel'] as const) : [])];
}

/** Stores have a hash in place of the name. */
function shortOwner({ principal }: Header): string {
  return `user ${principal.slice(principal.indexOf('.') + 1).slice(0, 8)}`;
}
