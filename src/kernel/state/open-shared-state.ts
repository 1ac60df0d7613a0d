// Opens the state that gateways share. Its code is loaded with it.
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { toSafeLog } from '../base/log.ts';
import type { Log } from '../base/log.ts';
import { createSealer } from '../crypto/seal.ts';
import { refuseShort } from '../crypto/state-keys.ts';
import type { State } from './state.ts';

export interface OpenStateOptions {
  /** Gets the reason when the state fails; callers are not told it. */
  log?: Log | undefined;
  /** What seals the values in Redis: the `keys` of the gateways, which are the same for all of them. A folder needs none. */
  keys?: readonly string[] | undefined;
  /** Of all keys in Redis. States with different prefixes share nothing. Default: `parley`. */
  prefix?: string | undefined;
}

/**
 * Opens a state for several gateways: one in Redis or Valkey, or in a folder for those of one machine (`file:///var/lib/parley`). Close it after
 * them.
 *
 * @example
 * ```ts
 * import { createGateway, openSharedState } from 'mcp-parley';
 *
 * const keys = [process.env.PARLEY_KEY!];
 * const state = await openSharedState('redis://redis:6379', { keys });
 * createGateway({ servers: { notes: 'http://notes:3001/mcp' }, keys, state });
 * ```
 */
export async function openSharedState(url: string, { log, keys, prefix }: OpenStateOptions = {}): Promise<State> {
  const scheme = /^(rediss?|file):\/\//.exec(url)?.[1];
  if (!scheme) refuse('write redis://HOST, rediss://HOST or file:///FOLDER');
  if (scheme === 'file') {
    const { FileState } = await import('./file-state.ts');
    return new FileState(toFolder(url), { log: toSafeLog(log), clock: systemClock });
  }
  if (!keys?.length) refuse('values in Redis are sealed, which needs `keys`, the same ones at all gateways');
  refuseShort(keys);
  const { createRedisState } = await import('./redis-state.ts');
  return createRedisState({ url, prefix, log: toSafeLog(log), sealer: createSealer(keys) });
}

function toFolder(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return refuse('write the whole path of a folder: file:///FOLDER');
  }
}

function refuse(reason: string): never {
  throw new GatewayError('BAD_OPTION', { option: 'state', reason });
}
