// Records every call with its outcome, and what else is worth proving.
import type { RecordAudit } from '../../../kernel/audit.ts';
import { readSafely } from '../../../kernel/base/author-callback.ts';
import { toReadable } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Family } from '../../../kernel/base/metric.ts';
import { defineFeature } from '../feature.ts';
import { AuditWatcher } from './audit-watcher.ts';
import { toSafeArguments } from './safe-arguments.ts';

export interface AuditFeatureOptions {
  /** Takes what is worth proving: calls, approvals, refusals, logins. Default: nothing is recorded. */
  audit?: RecordAudit | undefined;
  /** What `audit` gets of the arguments of a call. Default: their names, types and sizes. */
  auditArguments?: ((given: unknown) => unknown) | undefined;
}

function lostFamily(value: number): Family {
  const help = 'Events that the audit log could not write.';
  return { name: 'parley_audit_lost_total', help, type: 'counter', samples: [{ labels: {}, value }] };
}

/** What the program's own recorder says of itself. */
function lostBy(record: RecordAudit, log: Log): number {
  const fail = (thrown: unknown): void =>
    log.error({ callback: 'audit.lost', error: toReadable(thrown) }, 'callback.failed');
  return readSafely(() => record.lost?.() ?? 0, 0, fail);
}

export const audit = defineFeature<AuditFeatureOptions>({
  name: 'audit',
  create({ audit: first, auditArguments }, { events, log }) {
    const watch = ({ audit: record, auditArguments: show }: AuditFeatureOptions) =>
      record && events.watch(new AuditWatcher({ record, showArguments: show && toSafeArguments(show, log) }));
    let options: AuditFeatureOptions = { audit: first, auditArguments };
    let stop = watch(options);
    /** A call that has begun is recorded where it began. */
    const replace = (next: AuditFeatureOptions): void => {
      stop?.();
      options = next;
      stop = watch(next);
    };
    return {
      metrics: () => (options.audit?.lost ? [lostFamily(lostBy(options.audit, log))] : []),
      update(next: AuditFeatureOptions) {
        if ('audit' in next) replace(next);
        return undefined;
      },
      checkpoint() {
        const before = options;
        return {
          undo() {
            if (options !== before) replace(before);
          },
        };
      },
    };
  },
});
