// The entries of a journal in words: what happened, at which key, and with which text.
import type { JournalEntry, AnswerEntry, AnswerSource, Via } from '../../../flow/journal.ts';
import { isObject } from '../../../kernel/message.ts';
import { formatText, formatValue, redactValue } from './format.ts';

type EntryWords = [what: string, key: string, text: string];

/** `isBare`: without answers, arguments and results. */
export function wordsOfEntry(entry: JournalEntry, isBare = false): EntryWords {
  const [what, key, text] = toWords(entry);
  return [what, key, isBare ? toBareText(entry) : text];
}

const WHOSE: Record<AnswerSource, string> = {
  human: 'the user',
  ui: 'the user',
  model: 'the model',
  args: 'an argument',
  default: 'the default',
};

const BY: Record<Via, string> = {
  flow: 'MCP Flow',
  elicit: 'a form',
  mrtr: 'input_required',
  task: 'a task',
  app: 'an app',
  page: 'the page',
  relay: 'words',
  args: 'arguments',
  terminal: 'a terminal',
};

const UNANSWERED: Record<NonNullable<AnswerEntry['no']>, string> = {
  declined: 'declined',
  cancelled: 'cancelled',
  timeout: 'not answered in time',
  unavailable: 'nobody could be asked',
};

function toBareText(entry: JournalEntry): string {
  if (entry.t === 'ans') {
    const given = entry.no === undefined ? 'answered' : UNANSWERED[entry.no];
    return entry.a === 0 ? 'an argument' : `${given} (${whoOf(entry)}, by ${BY[entry.via]})`;
  }
  if (entry.t === 'step')
    return [entry.e?.name ?? '', entry.att > 1 ? `${entry.att} tries` : ''].filter(Boolean).join(', ');
  if (entry.t === 'evt') return entry.no ? 'did not arrive in time' : 'arrived';
  if (entry.t === 'edit') return `changed (${WHOSE[entry.src]})`;
  return entry.t === 'start' || entry.t === 'rej' ? '' : toWords(entry)[2];
}

function toWords(entry: JournalEntry): EntryWords {
  switch (entry.t) {
    case 'start':
      return ['start', '', toInput(entry.input)];
    case 'ans':
      return ['answer', entry.k, toAnswer(entry)];
    case 'int':
      return [
        'begin',
        entry.k,
        entry.sleep ? 'waits' : `idempotency key ${entry.idem}${entry.undo ? ', can be undone' : ''}`,
      ];
    case 'step':
      return [entry.e ? 'failed' : 'done', entry.k, toStepText(entry)];
    case 'evt':
      return ['event', entry.k, entry.no ? 'did not arrive in time' : `→ ${formatValue(entry.v)}`];
    case 'undo':
      return ['undone', entry.k, ''];
    case 'cut':
      return ['back', entry.k, 'to before this question'];
    case 'edit':
      return ['edit', entry.k, `→ ${formatValue(entry.v)} (${WHOSE[entry.src]})`];
    case 'ver':
      return ['version', entry.id, entry.on ? 'the new way' : 'the old way'];
    case 'rej':
      return ['refused', entry.k, formatText(entry.why)];
    case 'hand':
      return ['handed', entry.k, `over to ${formatText(entry.to)} by ${formatText(entry.by)}`];
    case 'end':
      return ['end', '', formatText(entry.why)];
    default: {
      // An entry of a newer version of Parley.
      const { t, ts: _, k = '', ...rest } = entry as { t: string; ts: number; k?: string };
      return [formatText(t), k, formatValue(rest)];
    }
  }
}

function toInput(input: unknown): string {
  const clear = withoutHeld(input);
  const isEmpty = isObject(clear) && Object.keys(clear).length === 0;
  const sealed = isObject(input) && '$held' in input ? 'more arguments, sealed until they are asked for' : '';
  return [isEmpty ? '' : formatValue(clear), sealed].filter((part) => part !== '').join(', and ');
}

export function withoutHeld(input: unknown): unknown {
  if (!isObject(input)) return redactValue(input);
  const { $held: _, ...clear } = input;
  return redactValue(clear);
}

function toAnswer(entry: AnswerEntry): string {
  const { q, v, no, via, a, ty } = entry;
  const asked = q ? `${formatText(q.message)} → ` : '';
  const given = no === undefined ? formatValue(v) : UNANSWERED[no];
  if (a === 0) return `${given} (${ty === '' ? 'an argument, before it was asked' : 'an argument'})`;
  return `${asked}${given} (${whoOf(entry)}, by ${BY[via]})`;
}

/** Who answered: an operator, another person, or the caller. */
function whoOf({ who, src, meta }: AnswerEntry): string {
  const operator = meta?.['operator'];
  if (typeof operator === 'string') return `operator ${formatText(operator)}`;
  if (who === undefined || (src !== 'human' && src !== 'ui' && src !== 'model')) return WHOSE[src];
  return src === 'model' ? `the model of ${formatText(who)}` : formatText(who);
}

function toStepText({ v, e, att }: Extract<JournalEntry, { t: 'step' }>): string {
  const tries = att > 1 ? ` (${att} tries)` : '';
  return e
    ? `${formatText(`${e.name}: ${e.message}`)}${tries}`
    : `${v === undefined ? '' : `→ ${formatValue(v)}`}${tries}`;
}
