// Tells versions of a file apart without reading it. It never throws, because timers look at files, and what they throw ends the process.
import { statSync } from 'node:fs';

/** Changes whenever the file does, and when it comes, goes, or cannot be looked at any more: its reader finds out why. */
export function fileStamp(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : 'missing';
  } catch (error) {
    return `unreadable ${(error as NodeJS.ErrnoException).code}`;
  }
}
