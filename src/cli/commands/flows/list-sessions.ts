// `parley flows ls`: lists the sessions of a store, the last active first.
import { earlyEndOf, conditionOf, parkedReason } from '../../../flow/header.ts';
import type { Condition } from '../../../flow/header.ts';
import type { Header } from '../../../flow/journal.ts';
import { findSessions } from '../../../flow/operator/find-sessions.ts';
import type { SessionFilter } from '../../../flow/operator/find-sessions.ts';
import type { Question } from '../../../flow/question/question.ts';
import { createSessionContext } from '../../../flow/session/context/session-context.ts';
import type { SessionContext } from '../../../flow/session/context/session-context.ts';
import { toShortId } from '../../../flow/session-id.ts';
import { readOutcome } from '../../../flow/session/turn/ended-record.ts';
import type { ListedSession } from '../../../flow/store/store.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { FlowsCommand } from '../../args/flow-commands.ts';
import type { Printer, Style } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';
import { formatText, formatAge, toIso } from './format.ts';
import type { OpenStore } from './open-store.ts';

export const CONDITION_COLOURS: Record<Condition, Style> = {
  waiting: 'cyan',
  working: 'green',
  parked: 'red',
  ending: 'yellow',
  completed: 'dim',
  cancelled: 'dim',
  failed: 'red',
  expired: 'dim',
};

export interface FlowsContext {
  command: FlowsCommand;
  print: Printer;
  clock: Clock;
}

export async function listSessions(
  { store, keys }: OpenStore,
  { command, print, clock }: FlowsContext,
): Promise<number> {
  const now = clock.now();
  const found = await findSessions(store, toFilter(command, now), command.limit);
  if (command.json) print.line(JSON.stringify(found.sessions.map(toPlainSession), undefined, 2));
  else
    for (const line of toLines(found.sessions, { now, print, context: createSessionContext({ store, keys }) }))
      print.line(line);
  const { sessions, fitting, all } = found;
  if (sessions.length < fitting) print.note(`${sessions.length} of ${fitting} are shown; --limit N shows more.`);
  else if (fitting === 0 && !command.json) print.note(noneOf(all));
  return 0;
}

export function toFilter({ states, flow, principal, olderMs, newerMs }: FlowsCommand, now: number): SessionFilter {
  return {
    conditions: states && new Set(states),
    flow,
    principal,
    before: olderMs === undefined ? undefined : now - olderMs,
    after: newerMs === undefined ? undefined : now - newerMs,
  };
}

function noneOf(all: number): string {
  if (all === 0) return 'There are no sessions in this store.';
  return `None of the ${all} sessions in this store match; --state all also shows ended ones.`;
}

function toLines(
  sessions: ListedSession[],
  { now, print, context }: { now: number; print: Printer; context: SessionContext },
): string[] {
  if (sessions.length === 0) return [];
  const rows = sessions.map(({ header }) => [
    toShortId(header.id),
    formatText(header.tool),
    conditionOf(header),
    formatAge(now - header.createdAt),
    formatAge(now - header.lastActivityAt),
    aboutSession(header, context),
  ]);
  const table = toTable([['ID', 'FLOW', 'STATE', 'AGE', 'IDLE', 'ABOUT'], ...rows], { width: process.stdout.columns });
  return table.map((line, index) =>
    index === 0 ? print.style('dim', line) : painted(line, rows[index - 1]![2] as Condition, print),
  );
}

function painted(line: string, condition: Condition, print: Printer): string {
  return line.replace(` ${condition} `, ` ${print.style(CONDITION_COLOURS[condition], condition)} `);
}

/** What the session waits for, or why it is parked or has failed. */
export function aboutSession(header: Header, context: SessionContext): string {
  const parked = parkedReason(header);
  if (parked !== undefined) return formatText(parked);
  const ending = earlyEndOf(header);
  if (ending) return `undoing${ending.tries ? `, ${ending.tries} tries so far` : ''}`;
  if (header.notUndone?.length) return `not undone: ${formatText(header.notUndone.join(', '))}`;
  const questions = header.current as Question[];
  if (questions.length > 0)
    return questions.map((one) => formatText(`${one.key}: ${one.prompt.message}${forWhom(one)}`)).join('; ');
  if (header.waits?.length) return formatText(`waits for ${header.waits.map(({ key }) => key).join(', ')}`);
  return formatText(whyFailed(header, context) ?? header.reason ?? '');
}

/** The message of the flow, as long as it is kept. */
function whyFailed(header: Header, context: SessionContext): string | undefined {
  if (conditionOf(header) !== 'failed' || header.outcome === undefined) return undefined;
  const outcome = readOutcome(context, header);
  return outcome ? outcome.failure?.message : `${header.reason ?? 'failed'}; --seal-key NAME shows why`;
}

/** Empty if the question is for the caller. */
function forWhom({ person }: Question): string {
  return person ? ` (waits for ${person.principal})` : '';
}

/** The session as JSON. */
export function toPlainSession({ header, dueAt, heldUntil }: ListedSession): object {
  const { id, tool, version, principal, via, createdAt, lastActivityAt, expiresAt, rounds, reason, notUndone } = header;
  return {
    id,
    flow: tool,
    state: conditionOf(header),
    version,
    principal,
    via,
    rounds,
    createdAt: toIso(createdAt),
    lastActivityAt: toIso(lastActivityAt),
    expiresAt: toIso(expiresAt),
    dueAt: toIso(dueAt),
    heldUntil: toIso(heldUntil),
    questions: (header.current as Question[]).map(({ promptId, key, kind, prompt, person }) => {
      return { promptId, key, kind, message: prompt.message, ...(person && { person: person.principal }) };
    }),
    parked: parkedReason(header),
    reason,
    notUndone,
  };
}
