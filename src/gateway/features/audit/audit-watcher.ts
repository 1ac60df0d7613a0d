// Records what happens at a gateway: each call of a client with its outcome and duration, and whatever else is worth proving. A call that takes long has a
// line before its end, `running`, so that it is in the log even if the process is killed.
import type { AuditEvent, RecordAudit } from '../../../kernel/audit.ts';
import type { EventWatcher } from '../../../kernel/events/event-watcher.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { toShape } from './argument-shape.ts';

interface AuditWatcherOptions {
  record: RecordAudit;
  /** Shows the arguments in the log; default: only their shapes. */
  showArguments?: ((given: unknown) => unknown) | undefined;
}

export class AuditWatcher implements EventWatcher {
  readonly what = 'audit';
  readonly event: RecordAudit;
  readonly #showArguments: (given: unknown) => unknown;

  constructor({ record, showArguments = toShape }: AuditWatcherOptions) {
    this.event = record;
    this.#showArguments = showArguments;
  }

  run(call: ObservedCall): unknown {
    return this.event(this.#eventOf(call, 'running'));
  }

  end(call: ObservedCall): unknown {
    return this.event(this.#eventOf(call, call.outcome));
  }

  #eventOf(call: ObservedCall, outcome: string | undefined): AuditEvent {
    const { exchange, shownName, findings, ms } = call;
    const { id, method, client, decision } = exchange;
    const { name = shownName } = call;
    const given = call.params.arguments;
    const key = client.connection?.identity?.key;
    const details: JsonObject = { client: client.info.name };
    if (key !== undefined) details.key = key;
    if (name !== shownName && shownName !== undefined) details.as = shownName;
    if (given !== undefined) details.arguments = this.#showArguments(given);
    if (findings) details.findings = findings;
    const { principal, server } = call;
    return { kind: 'call', exchange: id, principal, server, method, name, decision, outcome, ms, details };
  }
}
