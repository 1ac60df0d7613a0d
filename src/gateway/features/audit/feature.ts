// Records every call with its outcome, and what else is worth proving.
import type { RecordAudit } from '../../../kernel/audit.ts';
import { defineFeature } from '../feature.ts';
import { AuditWatcher } from './audit-watcher.ts';
import { toSafeArguments } from './safe-arguments.ts';

export interface AuditFeatureOptions {
  /** Takes what is worth proving: calls, approvals, refusals, logins. Default: nothing is recorded. */
  audit?: RecordAudit | undefined;
  /** What `audit` gets of the arguments of a call. Default: their names, types and sizes. */
  auditArguments?: ((given: unknown) => unknown) | undefined;
}

export const audit = defineFeature<AuditFeatureOptions>({
  name: 'audit',
  create({ audit: record, auditArguments }, { events, log }) {
    const showArguments = auditArguments && toSafeArguments(auditArguments, log);
    if (record) events.watch(new AuditWatcher({ record, showArguments }));
    return undefined;
  },
});
