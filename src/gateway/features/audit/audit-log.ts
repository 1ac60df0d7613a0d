// The audit log in a folder. What writes it is loaded with the first event, and nothing is created before.
import type { AuditEvent, RecordAudit } from '../../../kernel/audit.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import type { HeadSender } from './audit-heads.ts';
import type { AuditWriter } from './audit-writer.ts';
import type { AuditLogOptions } from './audit-log-options.ts';

export interface AuditLog {
  readonly record: RecordAudit;
  /** Writes what is left, and the signed end of the chain. */
  close(): Promise<void>;
}

/** Records a call for which no event was made. False if it needs one. */
export type RecordCall = (call: ObservedCall, outcome: string | undefined) => boolean;

/** The logs of this module, by the function that a gateway is given. */
const OWN = new WeakMap<RecordAudit, RecordCall>();

/** Undefined for the function of somebody else. */
export function recordCallOf(record: RecordAudit): RecordCall | undefined {
  return OWN.get(record);
}

/**
 * A log of calls, approvals and refusals that shows tampering.
 *
 * @example
 * ```ts
 * import { createAuditLog, createGateway } from 'mcp-parley';
 *
 * const audit = createAuditLog({ folder: '/var/lib/my-gateway/audit' });
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, audit: audit.record });
 * ```
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  let writer: AuditWriter | undefined;
  let heads: HeadSender | undefined;
  let loading: Promise<void> | undefined;
  const early: AuditEvent[] = [];
  const atExit = (): void => writer?.close();
  const load = async (): Promise<void> => {
    const loaded = await import('./audit-writer.ts');
    if (options.heads !== undefined) {
      const { HeadSender } = await import('./audit-heads.ts');
      heads = new HeadSender(options.heads, options.log);
    }
    writer = new loaded.AuditWriter(options, (head) => heads?.send(head));
    process.once('exit', atExit);
    for (const event of early.splice(0)) writer.record(event);
  };
  const record: RecordAudit = (event) => {
    if (writer) return writer.record(event);
    early.push(event);
    loading ??= load();
  };
  OWN.set(record, (call, outcome) => writer?.recordCall(call, outcome) ?? false);
  return {
    record: Object.assign(record, { lost: () => writer?.lost ?? 0 }),
    async close() {
      await loading;
      process.off('exit', atExit);
      writer?.close();
      await heads?.close();
    },
  };
}
