// An error in words for the person at the terminal: what happened and what to do.
import { GatewayError, ProtocolError } from '../shared/errors.ts';

export function errorWords(thrown: unknown): string {
  if (thrown instanceof GatewayError) return `${sentence(thrown.message)} ${thrown.row.hint}`;
  if (thrown instanceof ProtocolError && isInternal(thrown)) {
    return `it failed inside: ${sentence(thrown.message)} A step or the server threw an error; the log of the gateway says which${idIn(thrown)}.`;
  }
  if (thrown instanceof ProtocolError) return `the server refused (${thrown.code}): ${sentence(thrown.message)}`;
  return sentence(thrown instanceof Error ? thrown.message : String(thrown));
}

const INTERNAL_ERROR = -32603;

/** In these words a gateway hides what its own steps threw. */
function isInternal({ code, message }: ProtocolError): boolean {
  return code === INTERNAL_ERROR && message === 'Internal error';
}

function idIn({ data }: ProtocolError): string {
  const { exchange } = (data ?? {}) as { exchange?: unknown };
  return typeof exchange === 'string' ? ` (exchange ${exchange})` : '';
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
