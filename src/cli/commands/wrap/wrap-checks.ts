// The checks of what a wrapped server lists. Nobody has given it a name, so its pins belong to its command line or URL.
import { basename, isAbsolute } from 'node:path';
import { isLoopback } from '../../../mcp/listen/guard.ts';
import { DefinitionChecks } from '../../../gateway/features/list-checks/definition-checks.ts';
import { toPinPolicy } from '../../../gateway/features/pins/pin-policy.ts';
import { addressText } from '../../../mcp/connect/address-text.ts';
import type { CommandAddress, UrlAddress } from '../../../mcp/connect/address.ts';
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { createCliLog } from '../../terminal/cli-log.ts';

/** Commands that run what is in the folder. */
const OF_FOLDER = /^(node|bun|deno|tsx|python[\d.]*|uv|npm|pnpm|yarn|make|cargo|go)(\.exe|\.cmd)?$/;
const RELATIVE = /^\.{1,2}([\\/]|$)|\.([cm]?[jt]sx?|py|sh|rb|php|jar)$/;

export function createWrapChecks(
  { server, log, pins = isNamed(server) ? 'destructive' : 'off' }: WrapCommand,
  { name, events }: { name: string; events: EventHub | undefined },
): DefinitionChecks {
  const policy = toPinPolicy(pins);
  const pinned = { gateway: 'wrap', isByAddress: true, stateFolder: ownStateFolder(), clock: systemClock, events };
  const whose = { ...pinned, address: identityOf(server), command: 'command' in server ? server : undefined };
  return new DefinitionChecks({
    server: name,
    servers: () => [name],
    log: createCliLog(log ?? 'warn'), // what it says is about safety
    held: policy && (async (around) => new (await loadPins()).PinnedLists({ ...whose, ...around, policy })),
  });
}

function loadPins() {
  return import('../../../gateway/features/pins/pinned-lists.ts');
}

/** At a port of this machine there is now one server, now another. */
function isNamed(server: WrapCommand['server']): boolean {
  return 'command' in server || !isLoopback(new URL(server.url).hostname);
}

/** Which program a relative path means depends on the folder. */
function identityOf(server: CommandAddress | UrlAddress): string {
  const text = addressText(server);
  return 'command' in server && isOfFolder(server) ? `${text} in ${process.cwd()}` : text;
}

function isOfFolder({ command, args = [] }: CommandAddress): boolean {
  if ([command, ...args].some((word) => !isAbsolute(word) && RELATIVE.test(word))) return true;
  return OF_FOLDER.test(basename(command)) && !args.some((arg) => isAbsolute(arg));
}
