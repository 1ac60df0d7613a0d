// Configures the supervision of a target's connection: how to open it, how to handle its events, and when it is idle.
import type { Clock } from '../../../shared/clock.ts';
import { DEFAULT_LIMITS } from '../../../shared/limits.ts';
import type { Log } from '../../../shared/log.ts';
import type { ServerEvents } from '../../../protocol/server-view.ts';
import { flowOf } from '../../../protocol/interaction.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { SupervisedConnection } from './supervised-connection.ts';
import type { SupervisedConnectionOptions } from './supervised-connection.ts';
import { isCommandAddress } from '../address.ts';
import { openUpstream } from '../upstream.ts';
import type { Upstream } from '../upstream.ts';
import type { UpstreamTargetOptions } from '../target-options.ts';

export interface SupervisionOptions {
  events: ServerEvents;
  /** `isAgain`: the connection was open before and lost. */
  onOpen(upstream: Upstream, isAgain: boolean): void;
  onIdle(): void;
  /** Whether a client relies on the connection although it makes no call. */
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
  const { log, clock } = supervision;
  const { ownIdleMs } = { ...DEFAULT_LIMITS, ...options.limits };
  let isAgain = false;
  return new SupervisedConnection({
    clock,
    idleMs: options.idleMs,
    lingerMs: ownIdleMs,
    isKept: () => supervision.isKept(),
    admit: () => supervision.admit(),
    onClosing: (closed) => supervision.onClosing(closed),
    open: openerFor(connection, options, supervision),
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
    // Interactive sessions stay in the server between calls.
    isAtWork: (upstream) => connection.asks.hasTasks || flowOf(upstream.server.capabilities)?.interactive === true,
  });
}

function openerFor(
  connection: UpstreamConnection,
  options: UpstreamTargetOptions,
  { events, log, clock }: SupervisionOptions,
): SupervisedConnectionOptions['open'] {
  const { address, client: info, revision, era, timeoutMs, limits, id, login } = options;
  const fixed = { info, revision, era, timeoutMs, limits, id, login, events, log, clock };
  return (onClose, signal) => {
    const { capabilities, introduction, era: prefer, subscriptions } = connection;
    if (isCommandAddress(address)) options.checkStart?.(address);
    return openUpstream(address, { ...fixed, capabilities, introduction, prefer, subscriptions, onClose, signal });
  };
}

/** The reason of each server's last failure. */
const failures = new WeakMap<UpstreamTargetOptions, string>();

/** Every client retries a server that is down, so the log reports each reason only once. */
function tellFailure(options: UpstreamTargetOptions, reason: string, log: Log): void {
  if (failures.get(options) === reason) return log.debug({ reason }, 'upstream.failed');
  failures.set(options, reason);
  log.warn({ reason }, 'upstream.failed');
}
