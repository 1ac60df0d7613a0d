// How often each tool was called, from the audit log of this user.
import { CALL_TOOL } from '../../../kernel/methods.ts';
import { AuditTail } from './audit-lines.ts';
import { ownAuditFolder } from './own-audit.ts';

export interface CountedCalls {
  /** When the log begins, at the earliest at `since`; undefined if nothing is in it. */
  from: Date | undefined;
  /** Calls by server and its own name of the tool. */
  of(server: string, tool: string): number;
}

/** Calls that reached their server, and those that did not. */
export function countCalls(since: Date, folder = ownAuditFolder()): CountedCalls {
  const counts = new Map<string, number>();
  let first: string | undefined;
  new AuditTail(folder).read(({ time, kind, method, server, name }) => {
    if (time < since.toISOString()) return false;
    if (first === undefined || time < first) first = time;
    if (kind === 'call' && method === CALL_TOOL) {
      const key = toKey(server ?? '', name ?? '');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return false;
  });
  return {
    from: first === undefined ? undefined : new Date(first),
    of: (server, tool) => counts.get(toKey(server, tool)) ?? 0,
  };
}

function toKey(server: string, tool: string): string {
  return `${server}\n${tool}`;
}
