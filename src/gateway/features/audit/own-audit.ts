// The audit log of this user's gateways, in the state folder.
import { auditFolder } from './audit-folder.ts';
import { createAuditLog } from './audit-log.ts';
import type { AuditLog } from './audit-log.ts';
import type { AuditLogOptions } from './audit-log-options.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { AuditConfig } from './config.ts';
import type { AuditFeatureOptions } from './feature.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { toShape } from './argument-shape.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';

const MAX_LOGGED = 4096;

export function ownAuditFolder(): string {
  return auditFolder(ownStateFolder());
}

export function openOwnAudit(options: Omit<AuditLogOptions, 'folder'>): AuditLog {
  return createAuditLog({ ...options, folder: ownAuditFolder() });
}

interface AuditWanted {
  audit?: false | AuditConfig | undefined;
  limits?: Partial<Limits> | undefined;
}

/** The audit log of `parley serve`, as the configuration wants it. */
interface ServeAudit {
  options: AuditFeatureOptions;
  close(): Promise<void>;
}

/** Undefined if it is switched off. */
export async function openServeAudit({ audit, limits }: AuditWanted, log: Log): Promise<ServeAudit | undefined> {
  if (audit === false) return undefined;
  const opened = openOwnAudit({ log, limits, heads: audit?.heads });
  const close = (): Promise<void> => opened.close();
  if (audit?.arguments !== 'values') return { options: { audit: opened.record }, close };
  return { options: { audit: opened.record, auditArguments: await createArgumentsLog() }, close };
}

/** Arguments as values, for those who want them: without what looks like a secret, and not more than a few kilobytes. */
async function createArgumentsLog(): Promise<(given: unknown) => unknown> {
  const { Redactor, SECRET_KEYS, SECRET_PATTERNS } = await import('../redact/redact.ts');
  const redactor = new Redactor(SECRET_PATTERNS, SECRET_KEYS, '[redacted]');
  return (given) => {
    const shown = secrets.maskDeep(redactor.value(given));
    return (JSON.stringify(shown) ?? '').length <= MAX_LOGGED ? shown : toShape(given);
  };
}
