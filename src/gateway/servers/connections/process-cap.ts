// Limits the processes of a server, and chooses which one to end when another is needed. A process counts from the decision to
// start it until all of its group has ended.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

interface ProcessCapOptions {
  /** The configured name. */
  server: string;
  max: number;
  connections: () => readonly UpstreamConnection[];
  /** Whether a client relies on the connection although it makes no call. */
  isKept: (connection: UpstreamConnection) => boolean;
}

interface Room {
  others: readonly UpstreamConnection[];
  hasRoom: boolean;
  /** A connection that can be closed to make room. */
  unused?: UpstreamConnection;
}

export class ProcessCap {
  readonly #options: ProcessCapOptions;
  readonly #closing = new Set<Promise<void>>();

  constructor(options: ProcessCapOptions) {
    this.#options = options;
  }

  hasRoom({ isShared, mayReplace }: { isShared: boolean; mayReplace: boolean }): boolean {
    const { hasRoom, unused } = this.#roomFor({ isShared });
    return hasRoom || (mayReplace && unused !== undefined);
  }

  /** At the limit, closes an unused connection to make room. The promise is fulfilled when its process has ended. */
  admit(connection: UpstreamConnection): Promise<void> | undefined {
    const { others, hasRoom, unused } = this.#roomFor(connection);
    if (!hasRoom && !unused) throw this.noRoom(others.length);
    if (unused) unused.supervised.rest();
    else this.#endWorn(others.length + 1);
    return this.#closing.size > 0 ? this.#untilRoom(connection) : undefined;
  }

  noRoom(count = this.#othersThan(undefined).length): GatewayError {
    return new GatewayError('TOO_MANY_PROCESSES', { server: this.#options.server, count, max: this.#options.max });
  }

  noteClosing(closed: Promise<void>): void {
    const gone = closed.catch(() => {}).finally(() => this.#closing.delete(gone)); // reported where it is closed
    this.#closing.add(gone);
  }

  /** Fulfilled when all processes have ended that were given up or closed. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }

  async #untilRoom(connection: UpstreamConnection): Promise<void> {
    while (this.#closing.size > 0 && this.#othersThan(connection).length + this.#closing.size >= this.#options.max) {
      await Promise.race(this.#closing);
    }
  }

  #othersThan(connection: unknown): UpstreamConnection[] {
    return this.#options.connections().filter((one) => one !== connection && one.supervised.isLive);
  }

  /** Replaced processes that still linger count too, and are the first to end. `live`: the number of other processes. */
  #endWorn(live: number): void {
    const lingering = this.#options.connections().filter(({ supervised }) => supervised.isLingering);
    const excess = Math.max(0, live + lingering.length - this.#options.max);
    for (const { supervised } of lingering.slice(0, excess)) void supervised.closeWorn();
  }

  /** Reserves the last process for a shared connection: calls that ask nothing must not be refused because of calls that ask. */
  #roomFor(connection: Pick<UpstreamConnection, 'isShared'>): Room {
    const { max, isKept } = this.#options;
    const others = this.#othersThan(connection);
    const needsShared = !connection.isShared && !others.some((one) => one.isShared);
    if (others.length < Math.max(1, needsShared ? max - 1 : max)) return { others, hasRoom: true };
    const free = others.filter((one) => one.supervised.current && !one.supervised.isUsed && !isKept(one));
    // No client is present that could miss the server's state, but others are waiting. One shared connection always stays.
    const isSpare = others.filter((one) => one.isShared).length > 1;
    const unused =
      free.find(({ mayMakeRoom }) => mayMakeRoom) ?? (isSpare ? free.findLast((one) => one.isShared) : undefined);
    return { others, hasRoom: false, ...(unused && { unused }) };
  }
}
