// Reads rows that a durable store has kept. A damaged one (a disk error, a hand that changed it) is STORE_FAILED with its name, and does not hide the
// others from a list.
import { isObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Header, JournalEntry } from '../journal.ts';
import { toShortId } from '../session-id.ts';

/** `id`: if the row has it beside its text. */
export function readHeaderText(text: string, id?: string): Header {
  const header = parseRow(text, id);
  if (isObject(header) && typeof header.id === 'string' && typeof header.state === 'string')
    return header as unknown as Header;
  throw toDamaged(text, id);
}

/** The lists of entries of a session, in one JSON array. */
export function readEntriesText(text: string, id: string): JournalEntry[] {
  const lists = parseRow(text, id);
  const entries = Array.isArray(lists) ? (lists as unknown[]).flat() : [undefined];
  if (entries.every((entry) => isObject(entry) && typeof entry.t === 'string')) return entries as JournalEntry[];
  throw toDamaged(text, id);
}

/** Leaves out damaged rows, and names each in the log. */
export function readRows<Row, T>(rows: readonly Row[], read: (row: Row) => T): T[] {
  return rows.flatMap((row) => {
    try {
      return [read(row)];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      createLog().error({ error }, 'flow.row-damaged');
      return [];
    }
  });
}

function parseRow(text: string, id: string | undefined): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw toDamaged(text, id, cause);
  }
}

function toDamaged(text: string, id: string | undefined, cause?: unknown): GatewayError {
  const known = id ?? /"id":"(?<id>[^"]{1,100})"/.exec(text)?.groups?.['id'];
  const reason = `the row of session ${known === undefined ? '(without an id)' : toShortId(known)} is damaged`;
  return new GatewayError('STORE_FAILED', { reason }, cause === undefined ? undefined : { cause });
}
