// Commands of root for a gateway that runs as another user: before anything else, root becomes the user who owns the state folder. Every file then keeps
// its owner, and the control socket takes the command for one of that user's own. Root gains nothing from the service's files, and the service nothing from root:
// 1. Only that user and root can have put the folder there, so that the service cannot make root act as somebody else.
// 2. Groups are those that the system knows the user by, never that of a folder, which can come from elsewhere.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { stateFolder } from '../../kernel/secrets/own-folders.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { readEnvironment } from '../environment.ts';
import { passedOnTheWay } from './path-owners.ts';
import type { PassedPath } from './path-owners.ts';

/** Where `StateDirectory=parley` of a systemd unit is. */
const SERVICE_STATE = '/var/lib/parley';
const OTHERS_WRITE = 0o022;
/** In it, only owners can replace what is theirs. */
const STICKY = 0o1000;
/** Of a user whom the system does not know by name: a group that owns nothing. */
const NO_GROUP = 65_534;

/** What the types of Node leave out. */
interface ProcessOfRoot extends NodeJS.Process {
  initgroups(user: string, group: number): void;
}

/** False if root cannot become that user; the reason has been printed. */
export function actForService(print: Printer): boolean {
  const home = homeOfService();
  const folder = join(home, 'parley');
  try {
    const passed = passedOnTheWay(folder);
    if (!passed) return true;
    const doubt = doubtOf(folder, passed);
    if (doubt !== undefined) {
      print.problem(
        `root does not act as the owner of the state folder ${folder}: ${doubt}. Run the command as the user of the gateway, or change that.`,
      );
      return false;
    }
    const { uid } = passed.at(-1)!;
    if (uid === 0) return true;
    return becomeOwner(uid, home, print);
  } catch (error) {
    print.problem(
      `the state folder ${folder} cannot be looked at: ${(error as Error).message}. Set XDG_STATE_HOME to the folder above the state folder of the gateway.`,
    );
    return false;
  }
}

/** The folder that is named, else that of a service, else root's own. */
function homeOfService(): string {
  const environment = readEnvironment();
  const isNamed = environment.env['XDG_STATE_HOME'] !== undefined;
  return !isNamed && existsSync(join(SERVICE_STATE, 'parley')) ? SERVICE_STATE : dirname(stateFolder(environment));
}

/** Why somebody other than root and its owner may have put the folder there. Undefined if nobody can have. */
export function doubtOf(folder: string, passed: readonly PassedPath[]): string | undefined {
  const { uid } = passed.at(-1)!;
  const link = passed.find(({ isLink, path, uid: of }) => isLink && (of !== 0 || (path === folder && uid !== 0)));
  if (link) return `${link.path} is a link of user ${link.uid}`;
  if (uid === 0) return undefined;
  const above = passed.slice(0, -1);
  const foreign = above.find((one) => one.uid !== 0 && one.uid !== uid);
  if (foreign) return `it belongs to user ${uid}, but ${foreign.path} to user ${foreign.uid}`;
  const parent = above.at(-1);
  const open = above.find(
    (one) =>
      one.uid === 0 && !one.isLink && isWrittenByOthers(one.mode) && (one === parent || (one.mode & STICKY) === 0),
  );
  return open && `others than root can write ${open.path}`;
}

function isWrittenByOthers(mode: number): boolean {
  return (mode & OTHERS_WRITE) !== 0;
}

function becomeOwner(uid: number, home: string, print: Printer): boolean {
  const folder = join(home, 'parley');
  try {
    become(uid);
  } catch (error) {
    print.problem(
      `the state folder ${folder} belongs to user ${uid}, and this process may not become that user: ${(error as Error).message}. Run the command as that user.`,
    );
    return false;
  }
  process.env['XDG_STATE_HOME'] = home;
  process.env['HOME'] = home;
  print.note(`Acting as user ${uid}, who owns the state folder ${folder}.`);
  return true;
}

/** For good: there is no way back to root. */
function become(uid: number): void {
  const known = entryOf(uid);
  const gid = known?.gid ?? NO_GROUP;
  if (known) (process as ProcessOfRoot).initgroups(known.username, gid);
  else process.setgroups!([]);
  process.setgid!(gid);
  process.setuid!(uid);
}

/** What the system knows of a user. It is asked for that of the effective user only. */
function entryOf(uid: number): { username: string; gid: number } | undefined {
  process.seteuid!(uid);
  try {
    return userInfo();
  } catch {
    return undefined; // it has no name
  } finally {
    process.seteuid!(0);
  }
}
