// The audit log of this user's gateways, in the state folder.
import { auditFolder } from '../../gateway/audit/audit-folder.ts';
import { createAuditLog } from '../../gateway/audit/audit-log.ts';
import type { AuditLog, AuditLogOptions } from '../../gateway/audit/audit-log.ts';
import { ownStateFolder } from '../running/state-folder.ts';

export function ownAuditFolder(): string {
  return auditFolder(ownStateFolder());
}

export function openOwnAudit(options: Omit<AuditLogOptions, 'folder'>): AuditLog {
  return createAuditLog({ ...options, folder: ownAuditFolder() });
}
