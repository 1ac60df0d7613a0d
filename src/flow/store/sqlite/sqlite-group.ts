// Group commit: all writes of one turn of the event loop share a transaction, and so one wait for the disk. Each resolves after the commit.
// 1. Work touches only the database, so that it can run again if the transaction fails.
// 2. Work that throws is rejected alone; the rest runs again without it.
// 3. It waits for other writing processes without blocking this one.
// 4. After data was deleted, the write-ahead log, which still has it, is truncated soon.
import type { Database } from 'libsql';
import { GatewayError } from '../../../kernel/base/errors.ts';

export interface WriteGroup {
  /** Runs the work in the next transaction, and resolves once that is on disk. */
  write<T>(work: () => T): Promise<T>;
  /** Runs the work at once, on committed data. */
  read<T>(work: () => T): Promise<T>;
  /** Writes what is queued, then closes the file. Later work is rejected. */
  close(): Promise<void>;
}

interface Waiting {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  since: number;
}

/** Limits how long one transaction blocks the event loop. */
const MOST = 256;
const BUSY_MS = 10_000;

/** Truncating waits for the disk twice. */
const EVERY_MS = 1000;

export interface WalCleaner {
  /** The current transaction deletes data. */
  markDirty(): void;
  /** Call it after a transaction. */
  clean(): void;
  /** Call it before the file is closed. */
  stop(): void;
}

interface WriteGroupOptions {
  /** Runs at the beginning of every transaction. */
  first: () => void;
  /** Undefined for encrypted files, whose log is unreadable. */
  log: WalCleaner | undefined;
}

export function createWriteGroup(db: Database, { first, log }: WriteGroupOptions): WriteGroup {
  let waiting: Waiting[] = [];
  let scheduled = false;
  let closed = false;

  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const batch = waiting.splice(0, MOST);
    if (batch.length === 0) return;
    const outcome = transact(db, first, batch);
    log?.clean();
    if (outcome.again.length > 0) waiting = [...outcome.again, ...waiting];
    if (!outcome.busy) return schedule();
    scheduled = true;
    setTimeout(flush, pause());
  }

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(closedError());
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject, since: Date.now() });
        schedule();
      }),
    async read(work) {
      if (closed) throw closedError();
      for (const since = Date.now(); ;) {
        try {
          return work();
        } catch (error) {
          if (!isBusy(error) || Date.now() - since > BUSY_MS) throw told(error);
          await new Promise((resolve) => setTimeout(resolve, pause()));
        }
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      while (waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      log?.stop();
      closeFile(db);
    },
  };
}

function closeFile(db: Database): void {
  try {
    // A read-only connection leaves the log to the writers.
    const [{ query_only: isLooking }] = db.pragma('query_only') as [{ query_only: number }];
    if (isLooking === 0) truncateWal(db); // unless another process uses the file and does it
  } catch (error) {
    throw told(error);
  } finally {
    db.close();
  }
}

/** Returns the work to run again: all of it while another process writes, or the rest after one failed. */
function transact(db: Database, first: () => void, batch: Waiting[]): { again: Waiting[]; busy: boolean } {
  const results: unknown[] = [];
  try {
    db.exec('BEGIN IMMEDIATE');
    first();
    for (const { work } of batch) results.push(work());
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    return afterFailure(batch, results.length, error);
  }
  batch.forEach(({ resolve }, index) => resolve(results[index]));
  return { again: [], busy: false };
}

function afterFailure(batch: Waiting[], done: number, error: unknown): { again: Waiting[]; busy: boolean } {
  if (isBusy(error)) {
    const [late, rest] = [batch.filter(isLate), batch.filter((one) => !isLate(one))];
    for (const { reject } of late) reject(told(error));
    return { again: rest, busy: true };
  }
  const guilty = batch[done];
  if (guilty === undefined) {
    // The commit itself failed, for example because the disk is full.
    for (const { reject } of batch) reject(told(error));
    return { again: [], busy: false };
  }
  guilty.reject(told(error));
  return { again: batch.filter((one) => one !== guilty), busy: false };
}

function closedError(): Error {
  return new GatewayError('STORE_FAILED', { reason: 'it is closed' });
}

function isLate({ since }: Waiting): boolean {
  return Date.now() - since > BUSY_MS;
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}

function told(error: unknown): Error {
  const { code, message } = error as Error & { code?: string };
  if (code === undefined) return error as Error;
  const damaged = code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
  const reason = damaged ? 'its file is damaged' : isBusy(error) ? 'another process kept its file locked' : message;
  return new GatewayError('STORE_FAILED', { reason }, { cause: error });
}

/** Random, so that two processes do not collide again and again. */
function pause(): number {
  return 1 + Math.random() * 4;
}

/**
 * SQLite overwrites deleted data in the file (secure_delete), but the log keeps the old pages until it is reused. It is truncated at once,
 * but at most once a second.
 */
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
function truncateWal(db: Database): boolean {
  try {
    const [row] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    return row.busy === 0;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
