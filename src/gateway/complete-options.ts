// What a gateway is made with if its options do not say.
import type { Implementation } from '@modelcontextprotocol/client';
import { systemClock } from '../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import { toSafeLog } from '../kernel/base/log.ts';
import { randomId } from '../kernel/crypto/ids.ts';
import type { EventHub } from '../kernel/events/event-hub.ts';
import { createSealer } from '../kernel/crypto/seal.ts';
import { keysFrom } from '../kernel/crypto/state-keys.ts';
import { MemoryState } from '../kernel/state/memory-state.ts';
import { version as ownVersion } from '../kernel/version.ts';
import { createLogin } from '../mcp/listen/login.ts';
import { LiveLogin } from '../mcp/listen/live-login.ts';
import type { AuthOptions } from '../mcp/listen/auth/auth-options.ts';
import { LoginMemory } from '../mcp/listen/auth/login-memory.ts';
import type { Login } from '../mcp/listen/login.ts';
import { loadFrontPages } from '../people/load-front-pages.ts';
import { joinCluster } from './features/cluster/cluster.ts';
import { neededScopesOf } from './features/scopes/require-scopes.ts';
import type { CompleteOptions, GatewayOptions } from './gateway-options.ts';

export function completeOptions(options: GatewayOptions): CompleteOptions {
  const { clock = systemClock, id = randomId() } = options;
  const log = toSafeLog(options.log);
  const sealer = options.sealer ?? createSealer(keysFrom(options, log));
  const state = options.state ?? new MemoryState(clock);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const nodes = options.cluster && joinCluster(options.cluster, { ...options, sealer, clock, log, limits });
  return { ...options, log, clock, sealer, state, id, limits, nodes };
}

/** How the gateway introduces itself. */
export function infoOf({ name = 'mcp-parley', version = ownVersion() }: GatewayOptions): Implementation {
  return { name, version };
}

/** Who may call; undefined: everybody. `base`: the URL of the pages. */
export function toLogin(
  options: CompleteOptions,
  { base, events }: { base: () => Promise<string | undefined>; events: EventHub },
): LiveLogin | undefined {
  const { log, clock, sealer, state, identify, publicUrl } = options;
  if (!options.auth) return undefined;
  const memory = new LoginMemory({ clock, state });
  const around = { log, clock, events, state, memory, loadFrontPages, visitors: { sealer, base } };
  const create = (auth: AuthOptions): Login =>
    createLogin({ auth, identify, publicUrl }, { ...around, neededScopes: neededScopesOf(auth.toolScopes) });
  return new LiveLogin(options.auth, create);
}
