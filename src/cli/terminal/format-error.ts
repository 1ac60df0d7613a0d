// Formats an error for the terminal: what happened and what to do.
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { hintForPath } from './start-failure.ts';

export function formatError(thrown: unknown): string {
  if (thrown instanceof GatewayError) {
    const { server, reason } = thrown.details;
    return `${sentence(thrown.message)} ${hintForPath(String(reason), String(server)) ?? thrown.row.hint}`;
  }
  if (thrown instanceof ProtocolError && isInternal(thrown)) {
    return `${whatFailed(thrown)}. The log of the gateway says why${idIn(thrown)}.`;
  }
  if (isGatewayError(thrown)) return sentence((thrown as Error).message);
  if (thrown instanceof ProtocolError) return `the server refused (${thrown.code}): ${sentence(thrown.message)}`;
  return sentence(thrown instanceof Error ? thrown.message : String(thrown));
}

const INTERNAL_ERROR = -32603;

/** A Parley gateway adds an exchange id to errors that are neither the client's fault nor a server's answer. */
export function isGatewayError(thrown: unknown): boolean {
  return thrown instanceof ProtocolError && idIn(thrown) !== '';
}

/** A gateway uses this message to hide internal details. */
function isInternal({ code, message }: ProtocolError): boolean {
  return code === INTERNAL_ERROR && message === 'Internal error';
}

function whatFailed({ data, message }: ProtocolError): string {
  const { step } = (data ?? {}) as { step?: unknown };
  return typeof step === 'string' ? `step ${step} of the gateway failed` : `it failed inside: ${message}`;
}

function idIn({ data }: ProtocolError): string {
  const { exchange } = (data ?? {}) as { exchange?: unknown };
  return typeof exchange === 'string' ? ` (exchange ${exchange})` : '';
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
