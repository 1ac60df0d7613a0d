// What `parley doctor` sees of clients: which of their files they really read, whether it can be read, and what they start.
import { isDeepStrictEqual } from 'node:util';
import { clientTable } from '../../../config/client-table.ts';
import { installedClients, userPaths } from '../../../config/read/client-places.ts';
import type { ClientPlace } from '../../../config/read/client-places.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { statSync } from 'node:fs';
import { displayPath } from '../../environment.ts';
import { programName } from '../../program.ts';
import { planClient } from '../connect/plan-client.ts';
import type { ClientPlan } from '../connect/plan-client.ts';
import { ok } from './report.ts';
import type { CheckOutcome } from './report.ts';

export function checkClients(environment: Environment): CheckOutcome[] {
  const looks = installedClients(environment)
    .filter(({ exists }) => exists)
    .map((place) => look(place, environment));
  const found = looks.map(({ finding }) => finding);
  const unread = unreadFiles(environment);
  if (found.length + unread.length === 0) return [ok('clients', 'no client has a file here')];
  return [...found, ...unread, ...differences(looks)];
}

interface ClientLook {
  place: ClientPlace;
  finding: CheckOutcome;
  plan?: ClientPlan;
}

/** Only to plan with: nothing is written. */
const LAUNCH = { command: process.execPath, args: [] };

function look(place: ClientPlace, environment: Environment): ClientLook {
  const { client, path } = place;
  const check = `client ${client.id}`;
  const at = displayPath(path);
  try {
    const plan = planClient(place, LAUNCH, environment);
    return { place, plan, finding: describe(plan, check, at) };
  } catch (thrown) {
    const fix = 'Correct the file, or let the client write it again.';
    const what = `${at} cannot be read: ${(thrown as Error).message}`;
    return { place, finding: { check, level: 'problem', what, fix, measured: { path } } };
  }
}

function describe({ moved, kept, place }: ClientPlan, check: string, at: string): CheckOutcome {
  const others = kept.filter(({ isParley }) => isParley !== true);
  const startsParley = kept.length > others.length;
  const own = moved.length + others.length;
  const measured = { path: place.path, isVerified: place.isVerified, startsParley, servers: own };
  const isSure = place.isVerified ? '' : ' (whether it reads this file is not verified)';
  const servers = `${own} server${own === 1 ? '' : 's'} of its own`;
  if (startsParley)
    return ok(check, `${at}: starts Parley${own === 0 ? '' : `, and has ${servers}`}${isSure}`, measured);
  const what = `${at}: ${own === 0 ? 'has no servers' : `has ${servers}, and does not start Parley`}${isSure}`;
  if (own === 0) return ok(check, what, measured);
  return {
    ...ok(check, what, measured),
    fix: `To put Parley in front of them: ${programName()} connect ${place.client.id}`,
  };
}

/** Files that look like those of a client, and that it does not read because another one comes first. */
function unreadFiles(environment: Environment): CheckOutcome[] {
  const chosen = new Map(installedClients(environment).map(({ client, path }) => [client.id, path]));
  return clientTable().flatMap((client) => {
    const read = chosen.get(client.id);
    const others = new Set(userPaths(client, environment).filter((path) => path !== read && isFile(path)));
    return [...others].map((path): CheckOutcome => ({
      check: `client ${client.id}`,
      level: 'warning',
      what: `${displayPath(path)} is there, but ${client.name} reads ${displayPath(read)}`,
      fix: 'Move what you need of it to the other file, and remove it.',
      measured: { path, reads: read },
    }));
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Servers that have one name and are not the same in every client. */
function differences(looks: readonly ClientLook[]): CheckOutcome[] {
  const entries = looks.flatMap(({ plan, place }) =>
    (plan?.moved ?? []).map(({ name, server }) => ({ name, server, client: place.client.id })),
  );
  const names = [...new Set(entries.map(({ name }) => name))];
  return names.flatMap((name): CheckOutcome[] => {
    const same = entries.filter((entry) => entry.name === name);
    if (same.every(({ server }) => isDeepStrictEqual(server, same[0]!.server))) return [];
    const clients = same.map(({ client }) => client).join(', ');
    const what = `${name} is not the same server in ${clients}`;
    const fix = 'Decide which one you want; "connect" keeps them apart under two names.';
    return [
      { check: 'clients', level: 'warning', what, fix, measured: { name, clients: same.map(({ client }) => client) } },
    ];
  });
}
