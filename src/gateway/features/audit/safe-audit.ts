// The audit sink and `auditArguments` of an embedding program. A sink that throws ends neither a call nor the process; arguments that cannot be shown are
// left out of their line, which is written all the same.
import type { RecordAudit } from '../../../kernel/audit.ts';
import { toSafeCallback } from '../../../kernel/base/author-callback.ts';
import { toReadable } from '../../../kernel/base/errors.ts';
import { atOnce } from '../../../kernel/base/stray-promises.ts';
import type { Log } from '../../../kernel/base/log.ts';

interface AuditOptions {
  audit?: RecordAudit | undefined;
  auditArguments?: ((given: unknown) => unknown) | undefined;
}

const UNREADABLE = '[unreadable]';

export function withSafeAudit<O extends AuditOptions>(options: O, log: Log): O {
  const { audit, auditArguments } = options;
  return {
    ...options,
    ...(audit && { audit: toSafeCallback(audit, 'audit', log) }),
    ...(auditArguments && { auditArguments: toSafeArguments(auditArguments, log) }),
  };
}

/** A sink writes JSON: what has none would cost the line. */
function toSafeArguments(show: (given: unknown) => unknown, log: Log): (given: unknown) => unknown {
  return (given) => {
    try {
      const shown = atOnce('auditArguments', show(given));
      JSON.stringify(shown);
      return shown;
    } catch (thrown) {
      log.error({ callback: 'auditArguments', error: toReadable(thrown) }, 'callback.failed');
      return UNREADABLE;
    }
  };
}
