// The options of an audit log.
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';

export interface AuditLogOptions {
  /** A private folder for the files and the key. */
  folder: string;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
  /**
   * Where the hash of each signed line is sent, so that a replaced log is found: the path of a file, best on another mount, or an `https:`, `http:` or
   * `syslog:` URL.
   */
  heads?: string | undefined;
}
