// Arguments as values, for those who want them in the audit log: without what looks like a secret, and not more than a few kilobytes.
import { toShape } from '../../gateway/audit/audit-layer.ts';
import { Redactor } from '../../gateway/middleware/steps/redact/redactor.ts';
import { secrets as known } from '../../shared/secrets/secrets.ts';
import { SECRET_KEYS, SECRET_PATTERNS } from '../../gateway/middleware/steps/redact/well-known-secrets.ts';

const MAX_LENGTH = 4096;
const secrets = new Redactor(SECRET_PATTERNS, SECRET_KEYS, '[redacted]');

export function toLoggedArguments(given: unknown): unknown {
  const shown = known.maskDeep(secrets.value(given));
  return (JSON.stringify(shown) ?? '').length <= MAX_LENGTH ? shown : toShape(given);
}
