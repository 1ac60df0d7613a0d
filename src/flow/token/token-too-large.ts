// The error for a session that does not fit into its token. It names the largest part.
import { GatewayError } from '../../shared/errors.ts';
import type { JournalEntry } from '../journal.ts';
import type { StoredSession } from '../store/store.ts';
import { toCbor } from './cbor.ts';
import type { CompactRow } from './compact-entries.ts';

const KINDS: Partial<Record<JournalEntry['t'], string>> = {
  ans: 'the answer',
  step: 'the result of step',
  edit: 'the answer',
};

export function toTokenTooLarge(
  { header, entries }: StoredSession,
  rows: readonly CompactRow[],
  limit: number,
): GatewayError {
  let [bytes, what] = [toCbor(inputOf(entries[0])).length, 'the input'];
  for (const [index, row] of rows.entries()) {
    const size = toCbor(row).length;
    if (size > bytes) [bytes, what] = [size, nameOf(entries[index + 1]!)];
  }
  const largest = `the largest part is ${what}, ${bytes} bytes`;
  return new GatewayError('FLOW_LIMIT', {
    sessionId: header.id,
    limit: 'tokenBytes',
    what: `no more than ${limit} bytes in a token of ${header.tool}; ${largest}`,
  });
}

function nameOf(entry: JournalEntry): string {
  const kind = KINDS[entry.t] ?? entry.t;
  return 'k' in entry ? `${kind} ${entry.k}` : kind;
}

function inputOf(start: JournalEntry | undefined): unknown {
  return start?.t === 'start' ? [start.input, start.context] : [];
}
