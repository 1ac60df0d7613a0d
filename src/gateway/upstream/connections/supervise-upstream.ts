// A connection of a target, supervised: how it is opened, what it tells, and how long it stays unused.
import type { Clock } from '../../../shared/clock.ts';
import { DEFAULT_LIMITS } from '../../../shared/limits.ts';
import type { Log } from '../../../shared/log.ts';
import type { ServerEvents } from '../../../protocol/server-view.ts';
import { flowOf } from '../../../protocol/interaction.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { SupervisedConnection } from './supervised-connection.ts';
import { openUpstream } from '../upstream.ts';
import type { Upstream } from '../upstream.ts';
import type { UpstreamTargetOptions } from '../target-options.ts';

export interface SupervisionOptions {
  events: ServerEvents;
  /** `isAgain`: it was open before, and lost. */
  onOpen(upstream: Upstream, isAgain: boolean): void;
  onIdle(): void;
  /** Whether a client relies on it though it does not call. */
  isKept(): boolean;
  admit(): Promise<void> | undefined;
  onClosing(closed: Promise<void>): void;
  log: Log;
  clock: Clock;
}

export function superviseUpstream(
  connection: UpstreamConnection,
  options: UpstreamTargetOptions,
  supervision: SupervisionOptions,
): SupervisedConnection {
  const { address, client, revision, era, timeoutMs, limits, id } = options;
  const { events, log, clock } = supervision;
  const { ownIdleMs } = { ...DEFAULT_LIMITS, ...limits };
  let isAgain = false;
  return new SupervisedConnection({
    clock,
    idleMs: () => options.idleMs ?? (connection.isReplaceable ? ownIdleMs : undefined),
    lingerMs: ownIdleMs,
    isKept: () => supervision.isKept(),
    admit: () => supervision.admit(),
    onClosing: (closed) => supervision.onClosing(closed),
    open: (onClose, signal) =>
      openUpstream(address, {
        info: client,
        capabilities: connection.capabilities,
        introduction: connection.introduction,
        ...{ events, onClose, signal, revision, era, timeoutMs, limits, log, clock, id },
        prefer: connection.era,
      }),
    onOpen: (upstream) => {
      log.info({ revision: upstream.server.revision, transport: upstream.transport }, 'upstream.ready');
      failures.delete(options);
      connection.resetUsers();
      supervision.onOpen(upstream, isAgain);
      isAgain = true;
    },
    onLost: (reason) => {
      log.warn({ reason }, 'upstream.lost');
      connection.asks.reset();
      connection.reopen(clock);
    },
    onFailed: ({ message }) => tellFailure(options, message, log),
    onIdle: () => {
      connection.asks.reset();
      supervision.onIdle();
    },
    onReplaced: () => {
      log.info({}, 'upstream.replaced');
      connection.asks.reset();
      connection.reopen(clock);
    },
    // Interactive sessions live in the server between calls.
    isAtWork: (upstream) => connection.asks.hasTasks || flowOf(upstream.server.capabilities)?.interactive === true,
  });
}

/** Why each server failed when it was last tried. */
const failures = new WeakMap<UpstreamTargetOptions, string>();

/** A server that is down is tried again and again, by every client: the log says so once for each reason. */
function tellFailure(options: UpstreamTargetOptions, reason: string, log: Log): void {
  if (failures.get(options) === reason) return log.debug({ reason }, 'upstream.failed');
  failures.set(options, reason);
  log.warn({ reason }, 'upstream.failed');
}
