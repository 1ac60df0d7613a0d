// Opens a server behind the gateway as its entry says.
import type { Implementation } from '@modelcontextprotocol/client';
import { isCommandAddress } from '../mcp/connect/address.ts';
import { noteConfinements } from '../mcp/connect/confinements.ts';
import type { HumanChannel } from '../people/human-channel.ts';
import type { FeatureSet } from './feature-set.ts';
import type { CompleteOptions } from './gateway-options.ts';
import type { Member } from './router/member.ts';
import { isTarget, toConfigured } from './server-entry.ts';
import type { ServerEntry } from './server-entry.ts';
import { guardTarget } from './servers/guarded-target.ts';
import { UpstreamTarget } from './servers/upstream-target.ts';

interface Around {
  /** How the gateway introduces itself to the server. */
  info: Implementation;
  options: CompleteOptions;
  people: HumanChannel;
  features: FeatureSet;
}

export function openMember(name: string, entry: ServerEntry, { info, options, people, features }: Around): Member {
  const { server, ...settings } = toConfigured(entry);
  if (isTarget(server)) return { name, opening: {}, settings, target: guardTarget(server, name, options.log) };
  if (isCommandAddress(server)) noteConfinements(server);
  const { clock, limits, id, checkStart } = options;
  const { revision, era, timeoutMs, idleMs, share = options.share } = settings;
  const log = features.serverLog(options.log, name);
  const speaking = { revision, era, timeoutMs, idleMs, share };
  const asking = { roots: people.roots?.answer, assisted: () => people.assisted };
  const around = { log, clock, limits, id, checkStart, ...asking, ...speaking };
  const target = features.open(
    { name, address: server, settings, log },
    (more) => new UpstreamTarget({ name, address: server, client: info, ...around, ...more }),
  );
  if (settings.start === 'eager' && options.startsEager !== false) void target.ready?.();
  return { name, opening: {}, settings, target };
}
