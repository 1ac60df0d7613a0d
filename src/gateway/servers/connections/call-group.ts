// The connections of one principal for calls that must be alone, and the calls that wait for one of them.
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

type Waiter = (connection?: UpstreamConnection) => void;

export class CallGroup {
  /** The principal and the kind of calls. */
  readonly owner: string;
  readonly connections: UpstreamConnection[] = [];
  /** Called without a connection, a waiter looks for one again. */
  readonly waiting: Waiter[] = [];

  constructor(owner: string) {
    this.owner = owner;
  }

  /** A call that asks no longer counts as at work, so a waiting call may open another connection. */
  add(connection: UpstreamConnection): void {
    this.connections.push(connection);
    connection.asks.onAsking = () => this.waiting.shift()?.();
  }

  countAtWork(): number {
    return this.connections.filter(({ isTaken, asks }) => isTaken && !asks.isAsking).length;
  }

  /** Waits until a call ends or asks. */
  wait(clock: Clock, waitMs: number): Promise<UpstreamConnection | undefined> {
    return new Promise((resolve, reject) => {
      const stop = clock.after(waitMs, () => {
        this.waiting.splice(this.waiting.indexOf(next), 1);
        reject(new GatewayError('TOO_MANY', { what: 'interactive calls at once', limit: 'maxPool' }));
      });
      const next: Waiter = (connection) => {
        stop();
        resolve(connection);
      };
      this.waiting.push(next);
    });
  }
}
