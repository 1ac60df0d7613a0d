// What is kept of a message that somebody will look at: cut, without the secrets that this process knows, and with hidden characters written out.
import { GatewayError, ProtocolError } from '../../../../kernel/base/errors.ts';
import { printable } from '../../../../kernel/base/visible.ts';
import type { CallAnswer } from '../../../../kernel/events/call-notes.ts';
import { writeExactly } from '../../../../kernel/raw/exact-numbers.ts';
import { RawObject } from '../../../../kernel/raw/raw-object.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';

export interface KeptBody {
  readonly text: string;
  readonly isCut: boolean;
}

const MAX_CHARS = 32 * 1024;
/** Read beyond the cut, so that a secret at the cut is found whole. */
const MARGIN = 1024;

export function toKeptBody(value: unknown): KeptBody {
  const written = value instanceof RawObject ? beginOf(value) : (writeExactly(value) ?? '');
  const text = printable(secrets.mask(written.slice(0, MAX_CHARS + MARGIN)));
  return { text: text.slice(0, MAX_CHARS), isCut: written.length > MAX_CHARS + MARGIN || text.length > MAX_CHARS };
}

export function toKeptAnswer(answer: CallAnswer): KeptBody {
  return toKeptBody('result' in answer ? answer.result : { error: toError(answer.thrown) });
}

/** Large results are not read as a whole. */
function beginOf(raw: RawObject): string {
  let text = '';
  for (const chunk of raw.chunks()) {
    text += chunk.toString('utf8', 0, MAX_CHARS + MARGIN + 1);
    if (text.length > MAX_CHARS + MARGIN) break;
  }
  return text;
}

function toError(thrown: unknown): object {
  if (thrown instanceof ProtocolError) return { code: thrown.code, message: thrown.message, data: thrown.data };
  if (thrown instanceof GatewayError) return { code: thrown.code, message: thrown.message };
  return { code: 'INTERNAL' };
}
