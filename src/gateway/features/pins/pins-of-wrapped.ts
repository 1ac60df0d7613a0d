// The pins of a wrapped server. Nobody has given it a name, so they belong to its command line or URL.
import { basename, isAbsolute } from 'node:path';
import { isLoopback } from '../../../mcp/listen/guard.ts';
import { addressText } from '../../../mcp/connect/address-text.ts';
import type { CommandAddress, UrlAddress } from '../../../mcp/connect/address.ts';
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { LoadHeldDefinitions } from '../list-checks/held-definitions.ts';
import { toPinPolicy } from './pin-policy.ts';
import type { PinOption } from './pin-policy.ts';

interface WrappedServer {
  server: CommandAddress | UrlAddress;
  /** As typed. */
  pins?: PinOption | undefined;
}

/** Commands that run what is in the folder. */
const OF_FOLDER = /^(node|bun|deno|tsx|python[\d.]*|uv|npm|pnpm|yarn|make|cargo|go)(\.exe|\.cmd)?$/;
const RELATIVE = /^\.{1,2}([\\/]|$)|\.([cm]?[jt]sx?|py|sh|rb|php|jar)$/;

/** Undefined if nothing is pinned. */
export function pinsOfWrapped(
  { server, pins = isNamed(server) ? 'destructive' : 'off' }: WrappedServer,
  { events }: { events: EventHub | undefined },
): LoadHeldDefinitions | undefined {
  const policy = toPinPolicy(pins);
  const pinned = { gateway: 'wrap', isByAddress: true, stateFolder: ownStateFolder(), clock: systemClock, events };
  const whose = { ...pinned, address: identityOf(server), command: 'command' in server ? server : undefined };
  return policy && (async (around) => new (await loadPins()).PinnedLists({ ...whose, ...around, policy }));
}

function loadPins() {
  return import('./pinned-lists.ts');
}

/** At a port of this machine there is now one server, now another. */
function isNamed(server: WrappedServer['server']): boolean {
  return 'command' in server || !isLoopback(new URL(server.url).hostname);
}

/** Which program a relative path means depends on the folder. */
function identityOf(server: WrappedServer['server']): string {
  const text = addressText(server);
  return 'command' in server && isOfFolder(server) ? `${text} in ${process.cwd()}` : text;
}

function isOfFolder({ command, args = [] }: CommandAddress): boolean {
  if ([command, ...args].some((word) => !isAbsolute(word) && RELATIVE.test(word))) return true;
  return OF_FOLDER.test(basename(command)) && !args.some((arg) => isAbsolute(arg));
}
