// What is deleted from a file of SQLite is overwritten there, but the pages it was on stay in the write-ahead log until the log is used
// again. So the log is emptied after a session has ended: at once, or where sessions end all the time, once a second.
import type { Database } from 'libsql';

export interface WalCleaner {
  /** Something was deleted in the transaction at hand. */
  markDirty(): void;
  /** After a transaction. */
  clean(): void;
  /** The file is about to be closed. */
  stop(): void;
}

/** Emptying waits for the disk twice. */
const EVERY_MS = 1000;

export function createWalCleaner(db: Database): WalCleaner {
  // A process that was killed may have left its own.
  let isSoiled = true;
  let emptiedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  function settle(): void {
    if (!isSoiled || timer) return;
    const wait = emptiedAt + EVERY_MS - performance.now();
    if (wait <= 0 && truncateWal(db)) {
      isSoiled = false;
      emptiedAt = performance.now();
      return;
    }
    timer = setTimeout(
      () => {
        timer = undefined;
        settle();
      },
      Math.max(wait, EVERY_MS / 10),
    );
    timer.unref();
  }

  settle();
  return { markDirty: () => void (isSoiled = true), clean: settle, stop: () => clearTimeout(timer) };
}

/** False while another process reads or writes. */
export function truncateWal(db: Database): boolean {
  try {
    const [row] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    return row.busy === 0;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}
