// Records every call with its outcome. Outermost, so that it sees what clients get.
import type { RecordAudit } from '../../../kernel/audit.ts';
import { defineFeature } from '../feature.ts';
import { AuditLayer } from './audit-layer.ts';

export interface AuditFeatureOptions {
  /** Takes what is worth proving: calls, approvals, refusals, logins. Default: nothing is recorded. */
  audit?: RecordAudit | undefined;
  /** What `audit` gets of the arguments of a call. Default: their names, types and sizes. */
  auditArguments?: ((given: unknown) => unknown) | undefined;
}

export const audit = defineFeature<AuditFeatureOptions>({
  name: 'audit',
  create: ({ audit: record, auditArguments: showArguments }, { clock }) =>
    record && { layer: (next) => new AuditLayer(next, { record, clock, showArguments }) },
});
