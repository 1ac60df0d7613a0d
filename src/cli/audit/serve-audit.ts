// The audit log of `parley serve`, as the configuration wants it.
import type { ParleyConfig } from '../../config/config.ts';
import type { GatewayOptions } from '../../gateway/gateway.ts';
import type { Log } from '../../shared/log.ts';
import { openOwnAudit } from './own-audit.ts';

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
