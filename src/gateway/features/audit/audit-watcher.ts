// Records what happens at a gateway: each call of a client with its outcome and duration, and whatever else is worth proving. A call that takes long has a
// line before its end, `running`, so that it is in the log even if the process is killed.
import type { AuditEvent, RecordAudit } from '../../../kernel/audit.ts';
import type { EventWatcher } from '../../../kernel/events/event-watcher.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { nameIn } from '../../../kernel/named-thing.ts';
import { toShape } from './argument-shape.ts';
import { recordCallOf } from './audit-log.ts';
import type { RecordCall } from './audit-log.ts';

interface AuditWatcherOptions {
  record: RecordAudit;
  /** Shows the arguments in the log; default: only their shapes. */
  showArguments?: ((given: unknown) => unknown) | undefined;
}

export class AuditWatcher implements EventWatcher {
  readonly what = 'audit';
  readonly event: RecordAudit;
  readonly #showArguments: (given: unknown) => unknown;
  /** Of a log of ours, which makes no event of a usual call. */
  readonly #recordCall: RecordCall | undefined;

  constructor({ record, showArguments }: AuditWatcherOptions) {
    this.event = record;
    this.#showArguments = showArguments ?? toShape;
    this.#recordCall = showArguments ? undefined : recordCallOf(record);
  }

  run(call: ObservedCall): unknown {
    return this.#record(call, 'running');
  }

  end(call: ObservedCall): unknown {
    return this.#record(call, call.outcome);
  }

  #record(call: ObservedCall, outcome: string | undefined): unknown {
    if (this.#recordCall?.(call, outcome)) return undefined;
    return this.event(toCallEvent(call, { outcome, showArguments: this.#showArguments }));
  }
}

/** A call as an event of the audit log. */
export function toCallEvent(
  call: ObservedCall,
  { outcome, showArguments }: { outcome: string | undefined; showArguments: (given: unknown) => unknown },
): AuditEvent {
  const { exchange, findings, ms, unwrapped } = call;
  const { id, method, client, decision } = exchange;
  const shownName = unwrapped ? nameIn(method, unwrapped) : call.shownName;
  const { name = shownName } = call;
  const given = (unwrapped ?? call.params).arguments;
  const key = client.connection?.identity?.key;
  const details: JsonObject = { client: client.info.name };
  if (key !== undefined) details.key = key;
  if (name !== shownName && shownName !== undefined) details.as = shownName;
  if (unwrapped) details.through = call.shownName;
  if (given !== undefined) details.arguments = showArguments(given);
  if (findings) details.findings = findings;
  const { principal, server } = call;
  return { kind: 'call', exchange: id, principal, server, method, name, decision, outcome, ms, details };
}
