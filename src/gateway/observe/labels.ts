// The words by which exchanges are counted. All are from fixed lists: whatever clients call and servers answer, the number
// of time series stays bounded. Names of tools are never among them.
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

/** A method that anybody could have made up is `other`. */
export function toMethodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** `tool_error`: the tool ran, and says that it failed. */
export function outcomeOfResult(result: ResultObject): 'ok' | 'tool_error' {
  return fieldOf(result, 'isError') === true ? 'tool_error' : 'ok';
}

/** `server_error`: an error in the server's own words; otherwise by whose fault it is. */
export function outcomeOfError(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return 'server_error';
  if (!(thrown instanceof GatewayError)) return 'parley_error';
  return thrown.code === 'CANCELLED' ? 'cancelled' : `${thrown.row.fault}_error`;
}

/** A code of the error table, or the number a server gave: those are the server's to choose, so they count as one. */
export function toCodeLabel(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return 'server';
  return thrown instanceof GatewayError ? thrown.code : 'INTERNAL';
}
