// Replaces parts of a gateway while clients are connected: all of what was asked for, or nothing.
import { GatewayError } from '../kernel/base/errors.ts';
import type { AuthOptions } from '../mcp/listen/auth/auth-options.ts';
import { toStep } from './chain/to-step.ts';
import type { Checkpoint } from './features/feature.ts';
import type { Behind } from './fronts.ts';
import type { GatewayChanges } from './gateway-options.ts';
import type { GatewayParts, GatewaySettings } from './gateway-parts.ts';
import type { Member } from './router/member.ts';

/** Throws if one of the changes cannot be, and then nothing has changed. */
export function updateGateway(parts: GatewayParts, next: GatewayChanges): void {
  const before = checkpointOf(parts);
  let change: Change;
  let behind: Behind;
  try {
    change = changeParts(parts, next);
    behind = parts.behindOf(change.settings);
    if (next.steps) parts.lifecycle.replace(change.settings.steps); // last: a step that was closed cannot be started again
  } catch (thrown) {
    before.undo();
    throw thrown;
  }
  parts.settings = change.settings;
  before.keep?.();
  parts.fronts.replace(behind);
  if (next.roots) parts.members.tellRootsChanged(change.gone);
  parts.members.retire(change.gone);
}

/** What an update may change before it is refused. */
function checkpointOf({ people, members, features, login, names }: GatewayParts): Checkpoint {
  const naming = { ...names };
  const checkpoints: Checkpoint[] = [people, members, features, ...(login ? [login] : [])].map((part) =>
    part.checkpoint(),
  );
  return {
    undo() {
      Object.assign(names, naming);
      for (const one of checkpoints) one.undo();
    },
    keep() {
      for (const one of checkpoints) one.keep?.();
    },
  };
}

interface Change {
  settings: GatewaySettings;
  /** Servers that are not needed any more. */
  gone: readonly Member[];
}

function changeParts(parts: GatewayParts, next: GatewayChanges): Change {
  const { people, names, features, members, settings } = parts;
  if (next.roots) people.roots?.set(next.roots);
  if ('ask' in next) people.replaceAsk(next.ask);
  if ('auth' in next) replaceAuth(parts, next.auth);
  if (next.names) names.naming = next.names;
  if (next.servers) names.servers = Object.keys(next.servers);
  const changed = features.update(next);
  const again = changed.has('servers');
  const gone = next.servers || again ? members.set(next.servers ?? members.entries, { again }) : [];
  const isRemade = next.servers !== undefined || changed.size > 0;
  return {
    gone,
    settings: {
      groups: next.groups ?? settings.groups,
      startMs: 'startMs' in next ? next.startMs : settings.startMs,
      steps: next.steps?.map(toStep) ?? settings.steps,
      innermost: isRemade ? features.stepsFor(members.list) : settings.innermost,
    },
  };
}

function replaceAuth({ login, doors }: GatewayParts, auth: AuthOptions | undefined): void {
  if (login) {
    login.replace(auth);
    doors.checkLogin();
  } else if (auth) {
    const reason = 'a gateway asks for a login from its start on, or never';
    throw new GatewayError('BAD_OPTION', { option: 'auth', reason });
  }
}
