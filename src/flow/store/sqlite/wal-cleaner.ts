// Truncates the write-ahead log after data was deleted. SQLite overwrites deleted data in the file (secure_delete), but the log keeps the old
// pages until it is reused. It is truncated at once, but at most once a second.
import type { Database } from 'libsql';

export interface WalCleaner {
  /** The current transaction deletes data. */
  markDirty(): void;
  /** Call it after a transaction. */
  clean(): void;
  /** Call it before the file is closed. */
  stop(): void;
}

/** Truncating waits for the disk twice. */
const EVERY_MS = 1000;

export function createWalCleaner(db: Database): WalCleaner {
  // A process that was killed may have left data in the log.
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
