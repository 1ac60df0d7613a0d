// The options of createGateway.
import type { Clock } from '../kernel/base/clock.ts';
import type { Limits } from '../kernel/base/limits.ts';
import type { Log } from '../kernel/base/log.ts';
import type { Sealer } from '../kernel/crypto/seal.ts';
import type { JoinedNodes } from '../kernel/nodes/nodes.ts';
import type { Step, StepFunction } from '../kernel/step.ts';
import type { State } from '../kernel/state/state.ts';
import type { CommandAddress } from '../mcp/connect/address.ts';
import type { ServeContextOptions } from '../mcp/eras/serve/serve-context.ts';
import type { AuthOptions } from '../mcp/listen/auth/auth-options.ts';
import type { EndpointOptions } from '../mcp/listen/http/endpoint-options.ts';
import type { HumanChannelOptions } from '../people/human-channel.ts';
import type { FeatureOptions, LiveFeatureOptions } from './features/index.ts';
import type { NamingMode } from './router/public-names.ts';
import type { ServerEntry, ServerSettings } from './server-entry.ts';

export interface GatewayOptions extends ServeContextOptions, EndpointOptions, HumanChannelOptions, FeatureOptions {
  /** The gateway's name. Default: mcp-parley, or the name of the only server behind it. */
  name?: string | undefined;
  /** Default: the version of this package. */
  version?: string | undefined;
  instructions?: string | undefined;
  servers: Record<string, ServerEntry>;
  /** Outermost first. */
  steps?: (Step | StepFunction)[] | undefined;
  /** Servers that are served together at /mcp/<group>. */
  groups?: Record<string, string[]> | undefined;
  /** How tools and prompts of several servers are named. Default: `always`, every name starts with its server. */
  names?: NamingMode | undefined;
  /** How long a client may wait for servers that start or are slow to list what they offer; default 10 s. */
  startMs?: number | undefined;
  /** False: servers with `start: "eager"` also wait for the first client. */
  startsEager?: boolean | undefined;
  /** Who may call: API keys, and tokens of issuers. Default: everybody, on loopback; `identify` does it in code. */
  auth?: AuthOptions | undefined;
  /**
   * What several gateways share, from `openSharedState`. Default: each has its own, in memory. It holds which DPoP proofs were used, what
   * callers have read (`after` in rules) and how often they have called, remembered approvals, and who has logged out of the pages.
   */
  state?: State | undefined;
  /** How clients share connections, unless the server's settings say otherwise. */
  share?: ServerSettings['share'];
  /** Called each time before the command of a server is started. Throws if it must not be. */
  checkStart?: ((address: CommandAddress) => void) | undefined;
}

/** Options of features that can be replaced while clients are connected; undefined: their default. */
export type FeatureChanges = LiveFeatureOptions;

/** What can be replaced while clients are connected. */
export type GatewayChanges = Partial<
  Pick<GatewayOptions, 'servers' | 'steps' | 'groups' | 'names' | 'roots' | 'startMs' | 'ask' | 'auth'>
> &
  FeatureChanges;

/** With what is made if it is not given. */
export type CompleteOptions = GatewayOptions & {
  readonly log: Log;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly state: State;
  readonly limits: Limits;
  readonly nodes?: JoinedNodes | undefined;
};
