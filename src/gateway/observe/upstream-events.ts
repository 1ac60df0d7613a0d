// Counts lost and reopened connections of each server, from the events of its log.
import type { Log } from '../../shared/log.ts';

export interface UpstreamCounts {
  lost: number;
  restarts: number;
}

export class UpstreamEvents {
  readonly #counts = new Map<string, UpstreamCounts>();

  /** By server, also removed ones: counters never decrease. */
  get counts(): ReadonlyMap<string, UpstreamCounts> {
    return this.#counts;
  }

  /** Wraps the log of this server. */
  hear(log: Log, server: string): Log {
    const counts = this.#counts.get(server) ?? { lost: 0, restarts: 0 };
    this.#counts.set(server, counts);
    return hearing(log, (event) => {
      if (event === 'upstream.lost') counts.lost++;
      if (event === 'upstream.ready' && counts.restarts < counts.lost) counts.restarts++;
    });
  }
}

function hearing(log: Log, hear: (event: string) => void): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, event: string) => {
    hear(event);
    log[level](fields, event);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => hearing(log.child(fields), hear),
  };
}
