// Those who watch what happens at a gateway: the audit log, the counters, a console.
import type { AuditEvent } from '../audit.ts';
import type { CallAnswer, CallMoment } from './call-notes.ts';
import type { ObservedCall } from './observed-call.ts';

/** Every member is called at once and must not wait. What it throws is logged, and ends neither a call nor the process. */
export interface EventWatcher {
  /** Names it in the log. */
  readonly what: string;
  /** It sees requests that only look as well, such as lists and pings. Default: only those that the audit log has. */
  readonly seesAll?: boolean | undefined;
  /** A client has called. */
  begin?(call: ObservedCall): void;
  /** The call takes long and goes on; once for each call. */
  run?(call: ObservedCall): void;
  /** Something has happened on the way of the call. Nothing is made for it if nobody has this member. */
  moment?(call: ObservedCall, moment: CallMoment): void;
  /** Its request is answered: with a result, or with an error, which was thrown. A call that waits for a person goes on. */
  answer?(call: ObservedCall, answer: CallAnswer): void;
  /** Nothing follows: `outcome` and `ms` are known. Called for each call that it has seen begin, also if it has stopped watching since. */
  end?(call: ObservedCall): void;
  /** Something worth proving beside calls: an approval, a refusal, a login, a changed definition. It may belong to a call, by `exchange`. */
  event?(event: AuditEvent): void;
}
