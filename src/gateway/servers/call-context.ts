// What all calls to a server share.
import type { Clock } from '../../kernel/base/clock.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';

/** What all calls to a server share. */
export interface CallContext {
  connections: ConnectionPool;
  clock: Clock;
  timeoutMs: number | undefined;
}
