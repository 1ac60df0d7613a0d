// What a login needs from the gateway around it.
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import type { LoadFrontPages } from '../../../kernel/login-pages.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import type { State } from '../../../kernel/state/state.ts';
import type { LoginMemory } from './login-memory.ts';

/** The scopes that the call of this tool needs. */
type NeededScopes = (tool: string) => readonly string[];

export interface LoginContext {
  clock: Clock;
  log: Log;
  events?: EventHub | undefined;
  /** What gateways share. Default: in memory, for this one alone. */
  state?: State | undefined;
  /** Outlives the login where that can be replaced. Default: its own. */
  memory?: LoginMemory | undefined;
  neededScopes?: NeededScopes | undefined;
  /** For an authorization server in front, and for people who log in at pages. */
  loadFrontPages?: LoadFrontPages | undefined;
  /** Where people log in at pages: what seals their cookies, and the URL of the pages. */
  visitors?: { sealer: Sealer; base: () => Promise<string | undefined> } | undefined;
}

/** With what is made if it is not given. */
export type CompleteContext = LoginContext & { memory: LoginMemory };
