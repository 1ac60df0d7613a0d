// What an entry of `servers` is: an address, a server in this process, or one of them with settings.
import type { Step } from '../kernel/step.ts';
import type { Target } from '../kernel/target.ts';
import type { PinOption } from './features/pins/pin-policy.ts';
import { serverRules } from './features/filter/server-rules.ts';
import type { ToolRules } from './features/filter/server-rules.ts';
import type { Member } from './router/member.ts';
import type { RateOptions } from './features/rate/rate-limits.ts';
import type { Address } from '../mcp/connect/address.ts';
import type { UpstreamTargetOptions } from './servers/target-options.ts';

/** The address of a server, alone or with settings, or a server in this process. */
export type ServerEntry = Address | Target | ({ server: Address | Target } & ServerSettings);

export type ServerSettings = Pick<UpstreamTargetOptions, 'share' | 'revision' | 'era' | 'timeoutMs' | 'idleMs'> & {
  /** `eager`: connected at once. Default: when a client first needs it. */
  start?: 'lazy' | 'eager' | undefined;
  /** Whose account is used there. `user`: everybody logs in for themselves, and shares nothing. Default: one for all. */
  account?: 'user' | 'shared' | undefined;
  /** Which of its tools clients see, and which need approval. */
  tools?: ToolRules | undefined;
  /** Whether rules believe what the server says about its own tools, such as that one only reads. Default: false. */
  trustAnnotations?: boolean | undefined;
  /** How often callers may call it. */
  rate?: RateOptions | undefined;
  /** What happens when a definition changes after it was first seen. Default: that of the gateway. */
  pins?: PinOption | undefined;
};

export type ConfiguredServer = { server: Address | Target } & ServerSettings;

/** The rules in the settings of servers. */
export function serverRulesOf(members: readonly Member[]): Step[] {
  const rules = new Map<string, ToolRules>();
  for (const { name, entry } of members) {
    const { tools } = isSettings(entry as ServerEntry) ? (entry as ServerSettings) : {};
    if (tools) rules.set(name, tools);
  }
  return serverRules(rules);
}

/** Whether tools have rates of their own. */
export function hasToolRates(forAll: RateOptions | undefined, members: readonly Member[]): boolean {
  const own = members.map(({ entry }) => (entry as ServerSettings | undefined)?.rate);
  return [forAll, ...own].some((rate) => rate?.tools !== undefined);
}

/** The servers whose annotations rules believe. */
export function believedOf(members: readonly Member[]): ReadonlySet<string> {
  const believed = members.filter(({ entry }) => (entry as ServerSettings | undefined)?.trustAnnotations === true);
  return new Set(believed.map(({ name }) => name));
}

export function isTarget(entry: ServerEntry): entry is Target {
  return typeof entry === 'object' && 'handle' in entry && 'watch' in entry;
}

export function isSettings(entry: ServerEntry): entry is ConfiguredServer {
  return typeof entry === 'object' && !isTarget(entry) && 'server' in entry;
}
