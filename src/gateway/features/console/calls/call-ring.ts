// The last calls, for the console.
// 1. While nobody looks, a call leaves a small record at its end, and nothing is read of its messages.
// 2. While somebody looks, both legs are kept as text: cut, and without secrets (bodies.ts). When they take too much room, the oldest lose theirs.
// 3. A record knows whose it is: who may not see the call never gets it. The legs next to the server are the operator's, because the steps that remove
//    secrets from an answer are between them and the client.
import type { AuditEvent } from '../../../../kernel/audit.ts';
import { ticksOf } from '../../../../kernel/base/clock.ts';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { visible } from '../../../../kernel/base/visible.ts';
import { BoundedMap } from '../../../../kernel/containers/bounded-map.ts';
import type { CallAnswer, CallMoment } from '../../../../kernel/events/call-notes.ts';
import type { EventHub } from '../../../../kernel/events/event-hub.ts';
import type { ObservedCall } from '../../../../kernel/events/observed-call.ts';
import { toKeptAnswer, toKeptBody } from './bodies.ts';
import type { KeptBody } from './bodies.ts';
import { CallRecord } from './call-record.ts';
import { Minutes } from './minutes.ts';
import { maySee } from '../viewers.ts';
import type { Viewer } from '../viewers.ts';
import type { CallLeg, CallRow, CallView, CallsView } from '../views.ts';

const MAX_CALLS = 2000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_APPROVALS = 1000;
const MAX_OF_CALL = 20;

interface CallRingOptions {
  readonly events: EventHub;
  readonly clock: Clock;
}

export class CallRing {
  readonly #clock: Clock;
  readonly #events: EventHub;
  /** By their number: the newest takes the place of the oldest. A map would have to look for the oldest among all that it has dropped. */
  readonly #records: CallRecord[] = [];
  readonly #open = new WeakMap<ObservedCall, CallRecord>();
  /** Of calls that have not ended, by exchange. */
  readonly #approvals = new BoundedMap<string, AuditEvent[]>(MAX_APPROVALS);
  readonly #minutes: Minutes;
  readonly #stopCounting: () => void;
  #stopLooking: (() => void) | undefined;
  #count = 0;
  #seq = 0;
  #bytes = 0;
  /** Called with each change, while somebody looks. */
  onChange: (() => void) | undefined;

  constructor({ events, clock }: CallRingOptions) {
    this.#events = events;
    this.#clock = clock;
    this.#minutes = new Minutes(clock);
    this.#stopCounting = events.watch({
      what: 'console',
      end: (call) => this.#end(call),
      event: (event) => this.#hear(event),
    });
  }

  /** Whether both legs of calls are kept from now on. */
  look(isWatched: boolean): void {
    if (isWatched === (this.#stopLooking !== undefined)) return;
    this.#stopLooking?.();
    this.#stopLooking = isWatched
      ? this.#events.watch({
          what: 'console',
          begin: (call) => this.#begin(call),
          moment: (call, moment) => this.#notice(call, moment),
          answer: (call, answer) => this.#answer(call, answer),
        })
      : undefined;
  }

  close(): void {
    this.look(false);
    this.#stopCounting();
  }

  /** The newest change. */
  get cursor(): number {
    return this.#seq;
  }

  all(viewer: Viewer): CallsView {
    return { rows: this.since(0, viewer), minutes: this.minutesFor(viewer) };
  }

  minutesFor({ user }: Viewer): CallsView['minutes'] {
    return user === undefined ? this.#minutes.list : [];
  }

  /** What has changed since, the oldest call first. */
  since(cursor: number, viewer: Viewer): CallRow[] {
    const found: CallRow[] = [];
    for (const record of this.#kept())
      if (record.seq > cursor && maySee(viewer, record.principal))
        found.push(viewer.user === undefined ? record.row : record.rowForUser);
    return found;
  }

  /** How often each tool was called, by server and its own name. */
  countByTool(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { tool } of this.#kept()) if (tool !== undefined) counts.set(tool, (counts.get(tool) ?? 0) + 1);
    return counts;
  }

  find(id: string, viewer: Viewer): CallView | undefined {
    const record = this.#records[Number(id) % MAX_CALLS];
    if (record?.id !== id || !maySee(viewer, record.principal)) return undefined;
    return viewer.user === undefined ? record.view : record.viewForUser;
  }

  #begin(call: ObservedCall): void {
    const record = this.#add(call, this.#clock.now());
    this.#open.set(call, record);
    const { client } = call.exchange;
    const about = [client.revision, client.connection?.transport].filter(Boolean).join(' · ');
    this.#keep(record, call, { kind: 'called', about }, toKeptBody(call.params));
  }

  #notice(call: ObservedCall, moment: CallMoment): void {
    const record = this.#open.get(call);
    if (!record) return;
    switch (moment.kind) {
      case 'sent': {
        const { server, spokenTo, transport, params } = moment;
        const about = [server, spokenTo.revision, transport].filter(Boolean).join(' · ');
        return this.#keep(record, call, { kind: 'sent', about }, toKeptBody(params));
      }
      case 'received':
        return this.#keep(record, call, { kind: 'received' }, toKeptAnswer(moment));
      case 'asked': {
        record.asked++;
        const about = moment.ofGateway ? 'by the gateway' : 'by the server';
        return this.#keep(record, call, { kind: 'asked', about }, toKeptBody(moment.params ?? {}));
      }
      case 'replied':
        // What people answer stays with those who asked.
        return this.#keep(record, call, { kind: 'replied', about: moment.thrown === undefined ? null : 'no answer' });
    }
  }

  #answer(call: ObservedCall, answer: CallAnswer): void {
    const record = this.#open.get(call);
    if (record) this.#keep(record, call, { kind: 'answered' }, toKeptAnswer(answer));
  }

  #end(call: ObservedCall): void {
    const ms = call.ms ?? 0;
    const record = this.#open.get(call) ?? this.#add(call, this.#clock.now() - ms);
    const approvals = this.#approvals.get(call.id);
    if (approvals) this.#approvals.delete(call.id);
    record.end(call, approvals);
    this.#minutes.count(ms, record.isError);
    this.#touch(record);
  }

  #hear(event: AuditEvent): void {
    if (event.kind !== 'approval' || event.exchange === undefined) return;
    const known = this.#approvals.getOrCreate(event.exchange, () => []);
    if (known.length < MAX_OF_CALL) known.push(event);
  }

  #add(call: ObservedCall, at: number): CallRecord {
    const place = ++this.#count % MAX_CALLS;
    const record = new CallRecord(String(this.#count), at, call);
    this.#bytes -= this.#records[place]?.dropLegs() ?? 0;
    this.#records[place] = record;
    this.#touch(record);
    return record;
  }

  #keep(
    record: CallRecord,
    call: ObservedCall,
    { kind, about = null }: { kind: CallLeg['kind']; about?: string | null },
    body?: KeptBody,
  ): void {
    const at = Math.round((ticksOf(this.#clock) - call.begun) * 10) / 10;
    const leg = { kind, at, about: about && visible(about), text: body?.text ?? null, isCut: body?.isCut ?? false };
    if (this.#records[Number(record.id) % MAX_CALLS] !== record) return; // it was forgotten meanwhile
    this.#bytes += record.keep(leg);
    this.#touch(record);
    if (this.#bytes <= MAX_BYTES) return;
    for (const old of this.#kept()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#bytes -= old.dropLegs();
    }
  }

  /** The oldest first. */
  *#kept(): Generator<CallRecord> {
    for (let number = Math.max(1, this.#count - MAX_CALLS + 1); number <= this.#count; number++)
      yield this.#records[number % MAX_CALLS]!;
  }

  #touch(record: CallRecord): void {
    record.seq = ++this.#seq;
    this.onChange?.();
  }
}
