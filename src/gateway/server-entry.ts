// What an entry of `servers` is: an address, a server in this process, or one of them with settings.
import type { Step } from '../protocol/step.ts';
import type { Target } from '../protocol/target.ts';
import type { ServerEntry, ServerSettings } from './gateway.ts';
import { serverRules } from './middleware/steps/filter/server-rules.ts';
import type { ToolRules } from './middleware/steps/filter/server-rules.ts';
import type { Member } from './router/member.ts';
import type { Address } from './upstream/address.ts';

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
