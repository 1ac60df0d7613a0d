// An error in words for the person at the terminal: what happened and what to do.
import { GatewayError, ProtocolError } from '../shared/errors.ts';

export function errorWords(thrown: unknown): string {
  if (thrown instanceof GatewayError) return `${sentence(thrown.message)} ${thrown.row.hint}`;
  if (thrown instanceof ProtocolError) return `the server refused (${thrown.code}): ${sentence(thrown.message)}`;
  return sentence(thrown instanceof Error ? thrown.message : String(thrown));
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
