// How many processes a server may have at once, and which of them ends where one more is needed. A process counts from the moment at
// which it is to be started until nothing is left of it.
import { GatewayError } from '../../../shared/errors.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

export interface ProcessCapOptions {
  /** Its configured name. */
  server: string;
  max: number;
  connections: () => readonly UpstreamConnection[];
  /** A client relies on it, though nobody calls. */
  isKept: (connection: UpstreamConnection) => boolean;
}

interface Room {
  others: readonly UpstreamConnection[];
  hasRoom: boolean;
  /** What could make room. */
  unused?: UpstreamConnection;
}

export class ProcessCap {
  readonly #options: ProcessCapOptions;
  /** Processes that are ending. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: ProcessCapOptions) {
    this.#options = options;
  }

  hasRoom({ isShared, mayReplace }: { isShared: boolean; mayReplace: boolean }): boolean {
    const { hasRoom, unused } = this.#roomFor({ isShared });
    return hasRoom || (mayReplace && unused !== undefined);
  }

  /** Where there are too many already, one that nobody needs now makes room. The promise is fulfilled when it is gone. */
  admit(connection: UpstreamConnection): Promise<void> | undefined {
    const { others, hasRoom, unused } = this.#roomFor(connection);
    const { server } = this.#options;
    if (!hasRoom && !unused) throw new GatewayError('TOO_MANY_PROCESSES', { server, count: others.length });
    if (unused) unused.supervised.rest();
    else this.#endWorn(others.length + 1);
    return this.#closing.size > 0 ? this.#untilRoom(connection) : undefined;
  }

  noteClosing(closed: Promise<void>): void {
    const gone = closed.catch(() => {}).finally(() => this.#closing.delete(gone)); // told to the one who closes it
    this.#closing.add(gone);
  }

  async #untilRoom(connection: UpstreamConnection): Promise<void> {
    while (this.#closing.size > 0 && this.#othersThan(connection).length + this.#closing.size >= this.#options.max) {
      await Promise.race(this.#closing);
    }
  }

  #othersThan(connection: unknown): UpstreamConnection[] {
    return this.#options.connections().filter((one) => one !== connection && one.supervised.isLive);
  }

  /** Worn-out processes count as well, and are the first to go. `live`: how many others there will be. */
  #endWorn(live: number): void {
    const lingering = this.#options.connections().filter(({ supervised }) => supervised.isLingering);
    const excess = Math.max(0, live + lingering.length - this.#options.max);
    for (const { supervised } of lingering.slice(0, excess)) void supervised.closeWorn();
  }

  /** The last process is left for a connection that clients share: calls that ask nothing must not be refused because of others that do. */
  #roomFor(connection: Pick<UpstreamConnection, 'isShared'>): Room {
    const { max, isKept } = this.#options;
    const others = this.#othersThan(connection);
    const needsShared = !connection.isShared && !others.some((one) => one.isShared);
    if (others.length < Math.max(1, needsShared ? max - 1 : max)) return { others, hasRoom: true };
    const free = others.filter((one) => one.supervised.current && !one.supervised.isUsed && !isKept(one));
    // Nobody is there who could miss what a server remembers, and others are. One that clients share is left.
    const isSpare = others.filter((one) => one.isShared).length > 1;
    const unused =
      free.find((one) => one.isReplaceable) ?? (isSpare ? free.findLast((one) => one.isShared) : undefined);
    return { others, hasRoom: false, ...(unused && { unused }) };
  }
}
