// The state folder must be the user's alone: who can write it can remove pins, answer for a paired browser and pose as a gateway. One that others can write is
// taken back, with a word; one of somebody else is not used.
import { chmodSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';
import type { Printer } from '../../kernel/command/printer.ts';

const OTHERS_WRITE = 0o022;
const OWN = 0o700;

/** False if it cannot be used; the reason has been printed. */
export function ownTheStateFolder(print: Printer, folder: string = ownStateFolder()): boolean {
  const uid = process.getuid?.();
  let found: Stats | undefined;
  try {
    found = statSync(folder, { throwIfNoEntry: false });
  } catch (thrown) {
    const { code = 'unknown' } = thrown as NodeJS.ErrnoException;
    print.problem(
      `the state folder ${folder} cannot be reached (${code}). Let user ${uid ?? 'you'} pass the folders above it, or set XDG_STATE_HOME.`,
    );
    return false;
  }
  if (found === undefined || uid === undefined) return true;
  if (found.uid !== uid) {
    print.problem(
      `the state folder ${folder} belongs to another user. Own it, or set XDG_STATE_HOME to a folder of yours.`,
    );
    return false;
  }
  if ((found.mode & OTHERS_WRITE) === 0) return true;
  try {
    chmodSync(folder, OWN);
  } catch {
    print.problem(`others can write the state folder ${folder}. Take it back: chmod 700 ${folder}`);
    return false;
  }
  print.note(
    `Others could write the state folder ${folder}; now only you can. If you did not allow that, look at what is in it.`,
  );
  return true;
}
