// `parley flows show`: prints one session with its journal.
import { fold } from '../../../flow/fold.ts';
import { earlyEndOf, isEnded, conditionOf, parkedReason } from '../../../flow/header.ts';
import type { JournalEntry, Header } from '../../../flow/journal.ts';
import { heldUntil } from '../../../flow/operator/leave-request.ts';
import type { Question } from '../../../flow/question/question.ts';
import { readTrail, readOutcome } from '../../../flow/session/turn/ended-record.ts';
import { createSessionContext } from '../../../flow/session/context/session-context.ts';
import type { SessionContext } from '../../../flow/session/context/session-context.ts';
import type { ListedSession, StoredSession } from '../../../flow/store/store.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { formatRelative, redactValue, formatText, formatValue, formatTime, wrapText } from './format.ts';
import { withoutHeld, wordsOfEntry } from './journal-words.ts';
import { CONDITION_COLOURS, toPlainSession } from './list-sessions.ts';
import type { FlowsContext } from './list-sessions.ts';
import type { OpenStore } from './open-store.ts';

const SEALED = 'sealed; --seal-key NAME opens it, with a variable that has a key of serveFlows';
/** Also if a request was left in the store. */
const OVERDUE = 'as soon as a server of the flow runs';

export async function showSession(
  { store, keys }: OpenStore,
  listed: ListedSession,
  { command, print, clock }: FlowsContext,
): Promise<number> {
  const { id } = listed.header;
  const stored = await store.load(id);
  if (!stored) throw new Error(`${id} has just been forgotten. It had ended.`);
  const shown = toShown({ ...listed, header: stored.header }, stored, createSessionContext({ store, keys }));
  if (command.json) print.line(JSON.stringify(toPlain(shown), undefined, 2));
  else for (const line of toLines(shown, print, clock)) print.line(line);
  return 0;
}

/** A session, and what is kept of it if it has ended: `sealed` without the key. */
interface ShownSession {
  listed: ListedSession;
  stored: StoredSession;
  trail: ReturnType<typeof readTrail>;
  outcome: ReturnType<typeof readOutcome> | 'sealed';
}

function toShown(listed: ListedSession, stored: StoredSession, context: SessionContext): ShownSession {
  const { header } = stored;
  if (!isEnded(header)) return { listed, stored, trail: undefined, outcome: undefined };
  const outcome = header.outcome === undefined ? undefined : (readOutcome(context, header) ?? 'sealed');
  return { listed, stored, trail: readTrail(context, header), outcome };
}

function toPlain(shown: ShownSession): object {
  const { listed, stored, outcome } = shown;
  const undo = toUndo(stored);
  return {
    ...toPlainSession(listed),
    ...(undo && { undo }),
    ...(isEnded(listed.header) && { outcome: outcome === 'sealed' ? undefined : redactValue(outcome) }),
    journal: toEntries(shown).entries.map(toPlainEntry),
  };
}

function toLines(shown: ShownSession, print: Printer, clock: Clock): string[] {
  const { header } = shown.listed;
  const condition = conditionOf(header);
  const facts = toFacts(shown, clock).map(([name, text]) => `  ${print.style('dim', name.padEnd(9))}  ${text}`);
  const { entries, isBare } = toEntries(shown);
  const lines = [...toTimeline(entries, isBare), ...toOpen(header, clock.now())];
  const timeline = laidOut(lines, process.stdout.columns);
  return [
    `${print.style('bold', formatText(header.tool))} ${header.id} is ${print.style(CONDITION_COLOURS[condition], condition)}`,
    ...facts,
    ...(timeline.length > 0 ? ['', ...timeline] : []),
  ];
}

function toFacts({ listed, stored, trail, outcome }: ShownSession, clock: Clock): [string, string][] {
  const { header, dueAt } = listed;
  const now = clock.now();
  const moment = (at: number) => `${formatTime(at)}, ${formatRelative(at, now)}`;
  const held = heldUntil(listed, { clock });
  const facts: [string, string | undefined][] = [
    ['started', moment(header.createdAt)],
    ['active', moment(header.lastActivityAt)],
    ['expires', isEnded(header) ? undefined : moment(header.expiresAt)],
    ['wakes up', dueAt === undefined ? undefined : dueAt > now ? moment(dueAt) : OVERDUE],
    ['held', held === undefined ? undefined : `by a working process, for ${formatRelative(held, now)} at the longest`],
    ['owner', header.principal],
    ['version', header.version],
    ['journal', isEnded(header) ? trailWords(trail) : journalWords(stored)],
    ['parked', parkedReason(header) && formatText(parkedReason(header)!)],
    ['reason', header.reason && formatText(header.reason)],
    ['undo', undoWords(stored)],
    ['handed', handedWords(listed, now)],
    ['result', resultWords(outcome)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}

function handedWords({ header: { handed, parked }, dueAt = 0 }: ListedSession, now: number): string | undefined {
  if (!handed) return undefined;
  const isKept = parked !== undefined && dueAt > now;
  return `over by ${formatText(handed.by)}; ${isKept ? 'kept until `retry`, as it is parked' : 'no server has taken it yet'}`;
}

function journalWords({ header, entries }: StoredSession): string {
  return `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}, ${header.size ?? 0} bytes`;
}

/** Of an ended session, the entries that were kept. */
function toEntries({ stored, trail }: ShownSession): { entries: JournalEntry[]; isBare: boolean } {
  if (!isEnded(stored.header)) return { entries: stored.entries, isBare: false };
  return typeof trail === 'object' ? trail : { entries: [], isBare: true };
}

function trailWords(trail: ShownSession['trail']): string {
  if (trail === undefined) return 'gone, as it has ended';
  if (trail === 'sealed') return SEALED;
  const { cut, isBare, entries } = trail;
  const what = isBare ? 'without answers, as it has ended and its server has no keys' : 'of a session that has ended';
  return `${entries.length} entries ${what}${cut > 0 ? `; ${cut} earlier ones were dropped` : ''}`;
}

const TIME = 8;

/** A date, or an entry: time, action, key and text. */
type TimelineLine = [day: string] | [time: string, what: string, key: string, text: string];

/** Lays out the lines in columns and wraps the last one at the width of the terminal. */
function laidOut(lines: TimelineLine[], width: number | undefined): string[] {
  const wide = (index: number) => Math.max(0, ...lines.map((line) => (line.length === 1 ? 0 : line[index]!.length)));
  const [whats, keys] = [wide(1), wide(2)];
  return lines.flatMap((line) => {
    if (line.length === 1) return [`  ${line[0]}`];
    const [time, what, key, text] = line;
    const head = `  ${time.padEnd(TIME)}  ${what.padEnd(whats)}  ${key.padEnd(keys)}  `;
    const [first = '', ...rest] = wrapText(text, (width ?? Infinity) - head.length);
    return [`${head}${first}`.trimEnd(), ...rest.map((part) => `${' '.repeat(head.length)}${part}`)];
  });
}

/** Open questions and waits, as the last lines of the journal. */
function toOpen({ current, waits = [] }: Header, now: number): TimelineLine[] {
  const waiting = waits.map(({ key, kind, until }): TimelineLine => {
    return ['', 'waits', key, `${kind}${until === undefined ? '' : `, until ${formatRelative(until, now)}`}`];
  });
  const asking = (current as Question[]).map(
    ({ key, prompt, kind, complaint, until, by, secret, person }): TimelineLine => {
      const notes = [
        ...(person ? [`waits for ${formatText(person.principal)}`] : []),
        ...(secret ? ['a secret'] : kind === 'text' ? [] : [kind]),
        ...(by ? ['only a person may answer'] : []),
        ...(until === undefined ? [] : [`until ${formatRelative(until, now)}`]),
      ];
      const words = `${complaint ? `${complaint.error}. ` : ''}${prompt.message}`;
      return ['', 'asks', key, `${formatText(words)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`];
    },
  );
  return [...waiting, ...asking];
}

interface Undo {
  undone: string[];
  left: string[];
  tries: number;
}

/** The undo progress of a session that is ending. */
function toUndo({ header, entries }: StoredSession): Undo | undefined {
  const ending = earlyEndOf(header);
  if (!ending || entries.length === 0) return undefined;
  const { intents, undone } = fold(entries);
  const undoable = [...intents.values()].flatMap(({ entry }) => (entry.undo ? [entry.k] : []));
  const left = undoable.filter((key) => !undone.has(key));
  return { undone: [...undone], left, tries: ending.tries ?? 0 };
}

function undoWords(stored: StoredSession): string | undefined {
  const { notUndone } = stored.header;
  if (notUndone?.length && isEnded(stored.header))
    return `failed for good: ${formatText(notUndone.join(', '))}; undo by hand`;
  const undo = toUndo(stored);
  if (!undo) return undefined;
  const { undone, left, tries } = undo;
  const parts = [
    `left: ${left.join(', ') || 'nothing'}`,
    ...(undone.length > 0 ? [`undone: ${undone.join(', ')}`] : []),
    `${tries} tries so far`,
  ];
  return formatText(parts.join('; '));
}

function resultWords(outcome: ShownSession['outcome']): string | undefined {
  if (outcome === 'sealed') return SEALED;
  if (!outcome) return undefined;
  const { result, failure } = outcome;
  return failure ? formatText(failure.message) : formatValue(result);
}

/** Adds a line for each new date. */
export function toTimeline(entries: readonly JournalEntry[], isBare = false): TimelineLine[] {
  const lines: TimelineLine[] = [];
  let day = '';
  for (const entry of entries) {
    const [date, time] = formatTime(entry.ts).split(' ') as [string, string];
    if (date !== day) lines.push([date]);
    day = date;
    lines.push([time, ...wordsOfEntry(entry, isBare)]);
  }
  return lines;
}

/** The entry as JSON, without secrets and without the random seed. */
function toPlainEntry(entry: JournalEntry): object {
  if (entry.t !== 'start') return redactValue(entry);
  const { seed: _, input, ...rest } = entry;
  return { ...redactValue(rest), input: withoutHeld(input) };
}
