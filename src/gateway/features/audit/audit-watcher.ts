// Records what happens at a gateway: each call of a client with its outcome and duration, and whatever else is worth proving. A call that takes long has a
// line before its end, `running`, so that it is in the log even if the process is killed.
import type { RecordAudit } from '../../../kernel/audit.ts';
import type { EventWatcher } from '../../../kernel/events/event-watcher.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import { toShape } from './argument-shape.ts';
import { recordCallOf } from './audit-log.ts';
import type { RecordCall } from './audit-log.ts';
import { toCallEvent } from './call-event.ts';

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
