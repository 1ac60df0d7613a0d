// Opens the state that gateways share. Its code is loaded with it.
import { GatewayError } from '../base/errors.ts';
import { toSafeLog } from '../base/log.ts';
import type { Log } from '../base/log.ts';
import type { State } from './state.ts';

export interface OpenStateOptions {
  /** Gets the reason when the state fails; callers are not told it. */
  log?: Log | undefined;
  /** Of all keys. States with different prefixes share nothing. Default: `parley`. */
  prefix?: string | undefined;
}

/**
 * Opens a state for several gateways: `createGateway({ state: await openSharedState('redis://redis:6379') })`. Close it after them.
 */
export async function openSharedState(url: string, { log, prefix }: OpenStateOptions = {}): Promise<State> {
  if (!/^rediss?:\/\//.test(url)) {
    throw new GatewayError('BAD_OPTION', { option: 'state', reason: 'write redis://HOST or rediss://HOST' });
  }
  const { createRedisState } = await import('./redis-state.ts');
  return createRedisState({ url, prefix, log: toSafeLog(log) });
}
