// Finds the session of a request that is not live here: at the node that has it, or in the store, from which it is then taken over.
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { pause } from '../../../kernel/base/timing.ts';
import type { Nodes, ForwardOutcome } from '../../../kernel/nodes/nodes.ts';
import type { HttpSessionStore, SessionRecord } from '../durable/session-store.ts';

interface SessionSearch {
  readonly id: string;
  /** Says who may use the session, and where. */
  readonly binding: string;
  readonly nodes: Nodes;
  readonly store: HttpSessionStore;
  readonly clock: Clock;
  /** It has been forwarded here. */
  readonly isHop: boolean;
  /** What was begun at a node that is lost can be begun again. */
  readonly isSafe: boolean;
  /** Nobody waits for the answer any more. */
  isOver(): boolean;
  /** Passes the request on. */
  forward(node: string): Promise<ForwardOutcome>;
  restore(record: SessionRecord): void;
}

/** `here`: it is live here now, or exists nowhere. `misdirected`: it was forwarded here, and the owner is another one. */
type FoundSession = { kind: 'here' | 'answered' | 'broken' | 'cut' } | { kind: 'misdirected'; owner: string };

/** How long a lost node may be taken for alive, and more. */
const PATIENCE_MS = 12_000;
const LOOK_EVERY_MS = 200;

export async function searchSession(search: SessionSearch): Promise<FoundSession> {
  const { id, binding, nodes, store, clock, isHop, isSafe } = search;
  const end = ticksOf(clock) + PATIENCE_MS;
  let owner = isHop ? undefined : nodes.sessionOwnerOf(id);
  while (ticksOf(clock) < end) {
    if (search.isOver()) return { kind: 'answered' };
    if (owner === undefined) {
      const found = await store.takeOver(id, binding);
      if (found && 'isUnsettled' in found) {
        await pause(clock, LOOK_EVERY_MS);
        continue;
      }
      if (found && !('owner' in found)) search.restore(found);
      if (!found || !('owner' in found)) return { kind: 'here' };
      ({ owner } = found);
      if (isHop) return { kind: 'misdirected', owner };
    }
    const outcome = await search.forward(owner);
    const isLost = outcome.kind === 'unsent' || (outcome.kind === 'broken' && isSafe);
    if (!isLost && outcome.kind !== 'elsewhere') return outcome as FoundSession;
    owner = outcome.kind === 'elsewhere' && outcome.owner !== '' ? outcome.owner : undefined;
    if (isLost) await pause(clock, LOOK_EVERY_MS);
  }
  throw new GatewayError('NODE_AWAY');
}
