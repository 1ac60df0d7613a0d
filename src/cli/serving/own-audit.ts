// The audit log of this user's gateways, in the state folder.
import { auditFolder } from '../../gateway/audit/audit-folder.ts';
import { createAuditLog } from '../../gateway/audit/audit-log.ts';
import type { AuditLog, AuditLogOptions } from '../../gateway/audit/audit-log.ts';
import { ownStateFolder } from '../../shared/secrets/own-folders.ts';
import type { ParleyConfig } from '../../config/config.ts';
import type { GatewayOptions } from '../../gateway/gateway.ts';
import type { Log } from '../../shared/log.ts';

export function ownAuditFolder(): string {
  return auditFolder(ownStateFolder());
}

export function openOwnAudit(options: Omit<AuditLogOptions, 'folder'>): AuditLog {
  return createAuditLog({ ...options, folder: ownAuditFolder() });
}

/** The audit log of `parley serve`, as the configuration wants it. */
export interface ServeAudit {
  options: Pick<GatewayOptions, 'audit' | 'auditArguments'>;
  close(): Promise<void>;
}

/** Undefined if it is switched off. */
export async function openServeAudit({ audit, limits }: ParleyConfig, log: Log): Promise<ServeAudit | undefined> {
  if (audit === false) return undefined;
  const opened = openOwnAudit({ log, limits });
  const close = (): Promise<void> => opened.close();
  if (audit?.arguments !== 'values') return { options: { audit: opened.record }, close };
  const { toLoggedArguments } = await import('./logged-arguments.ts');
  return { options: { audit: opened.record, auditArguments: toLoggedArguments }, close };
}
