// The labels of exchange counters. All come from fixed lists, so the number of time series stays bounded whatever clients and
// servers send. Tool names are never labels.
import { fieldOf } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

const METHODS = new Set([
  'capabilities',
  'completion/complete',
  'interaction.cancel',
  'interaction.getState',
  'interaction.respond',
  'interaction.start',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tools/call',
  'tools/list',
]);

/** Methods outside the protocol count as `other`. */
export function toMethodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** `tool_error`: the tool ran and reported a failure. */
export function outcomeOfResult(result: ResultObject): 'ok' | 'tool_error' {
  return fieldOf(result, 'isError') === true ? 'tool_error' : 'ok';
}

/** `server_error`: an error of the server itself; otherwise named by the responsible side. */
export function outcomeOfError(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return 'server_error';
  if (!(thrown instanceof GatewayError)) return 'parley_error';
  return thrown.code === 'CANCELLED' ? 'cancelled' : `${thrown.row.fault}_error`;
}

/** A code of the error table; codes chosen by servers count as one. */
export function toCodeLabel(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return 'server';
  return thrown instanceof GatewayError ? thrown.code : 'INTERNAL';
}
