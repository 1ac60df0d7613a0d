// Commands of root for a gateway that runs as another user: before anything else, root becomes the user who owns the state folder. Every file then keeps
// its owner, and the control socket takes the command for one of that user's own. Root gains nothing from the service's files, and the service nothing from root.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateFolder } from '../../kernel/secrets/own-folders.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { readEnvironment } from '../environment.ts';

/** Where `StateDirectory=parley` of a systemd unit is. */
const SERVICE_STATE = '/var/lib/parley';

/** False if root cannot become that user; the reason has been printed. */
export function actForService(print: Printer): boolean {
  const home = homeOfService();
  const folder = join(home, 'parley');
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found || found.uid === 0) return true;
  try {
    become(found);
  } catch (error) {
    print.problem(
      `the state folder ${folder} belongs to user ${found.uid}, and this process may not become that user: ${(error as Error).message}. Run the command as that user.`,
    );
    return false;
  }
  process.env['XDG_STATE_HOME'] = home;
  process.env['HOME'] = home;
  print.note(`Acting as user ${found.uid}, who owns the state folder ${folder}.`);
  return true;
}

/** The folder that is named, else that of a service, else root's own. */
function homeOfService(): string {
  const environment = readEnvironment();
  const isNamed = environment.env['XDG_STATE_HOME'] !== undefined;
  return !isNamed && existsSync(join(SERVICE_STATE, 'parley')) ? SERVICE_STATE : dirname(stateFolder(environment));
}

/** For good: there is no way back to root. */
function become({ uid, gid }: { uid: number; gid: number }): void {
  process.setgroups!([gid]);
  process.setgid!(gid);
  process.setuid!(uid);
}
