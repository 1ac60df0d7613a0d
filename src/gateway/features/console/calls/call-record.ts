// One call as the console keeps it: a few facts, and both legs if somebody was looking. It holds nothing of the call itself. Texts are made fit to be shown
// when somebody looks.
import type { AuditEvent } from '../../../../kernel/audit.ts';
import { loggedPrincipal } from '../../../../kernel/base/anonymous.ts';
import { visible } from '../../../../kernel/base/visible.ts';
import type { ObservedCall } from '../../../../kernel/events/observed-call.ts';
import { CALL_TOOL } from '../../../../kernel/methods.ts';
import type { CallLeg, CallRow, CallView } from '../views.ts';

/** Outcomes that are neither good nor bad: the call goes on elsewhere, its client left it, or a person has said no. */
const CALM = new Set(['input_required', 'working', 'CANCELLED', 'declined']);
const NONE: readonly never[] = [];
/** Two bytes for each character, and the object around it. */
const LEG_BYTES = 200;
/** Inside of the steps: before `redact`, `screen` and `filter` have seen an answer, and after a step has added something to a call. */
const OF_SERVER: ReadonlySet<CallLeg['kind']> = new Set(['sent', 'received']);

export class CallRecord {
  readonly id: string;
  readonly principal: string;
  seq = 0;
  asked = 0;
  readonly #at: number;
  readonly #method: string;
  readonly #client: string;
  readonly #revision: string;
  readonly #shownName: string | undefined;
  #name: string | undefined;
  #server: string | null = null;
  #spokenTo: string | null = null;
  #rule: string | null = null;
  #ms: number | null = null;
  #outcome: string | null = null;
  #legs: CallLeg[] | undefined;
  #approvals: CallView['approvals'] = NONE;
  #findings: readonly string[] = NONE;

  constructor(id: string, at: number, call: ObservedCall) {
    const { client } = call.exchange;
    this.id = id;
    this.principal = client.principal;
    this.#at = at;
    this.#method = call.method;
    this.#client = client.info.title ?? client.info.name;
    this.#revision = client.revision;
    this.#shownName = call.shownName;
    this.#name = this.#shownName;
  }

  /** The server and its own name of the tool. */
  get tool(): string | undefined {
    return this.#method === CALL_TOOL && this.#server !== null ? `${this.#server} ${this.#name}` : undefined;
  }

  get isError(): boolean {
    return this.#outcome !== null && this.#outcome !== 'ok' && !CALM.has(this.#outcome);
  }

  end(call: ObservedCall, approvals: readonly AuditEvent[] | undefined): void {
    const { name, server, spokenTo, outcome, ms, findings, exchange } = call;
    this.#name = name ?? this.#shownName;
    this.#server = server ?? null;
    this.#spokenTo = spokenTo?.revision ?? null;
    this.#rule = exchange.decision ? `${exchange.decision.effect} by ${exchange.decision.rule}` : null;
    this.#outcome = outcome ?? 'ok';
    this.#ms = ms ?? 0;
    if (findings) this.#findings = findings.map(visible);
    if (approvals) this.#approvals = approvals.map(toApproval);
  }

  /** Returns the bytes that it takes. */
  keep(leg: CallLeg): number {
    (this.#legs ??= []).push(leg);
    return bytesOf(leg);
  }

  /** Returns the bytes that they took. */
  dropLegs(): number {
    const bytes = (this.#legs ?? []).reduce((sum, leg) => sum + bytesOf(leg), 0);
    this.#legs = undefined;
    return bytes;
  }

  get row(): CallRow {
    const isRunning = this.#outcome === null;
    const isCalm = CALM.has(this.#outcome ?? '');
    return {
      id: this.id,
      seq: this.seq,
      at: this.#at,
      ms: this.#ms,
      outcome: this.#outcome,
      tone: isRunning ? 'busy' : isCalm ? 'calm' : this.isError ? 'bad' : 'good',
      method: visible(this.#method),
      isTool: this.#method === CALL_TOOL,
      name: toText(this.#name),
      shownName: this.#shownName === this.#name ? null : toText(this.#shownName),
      server: this.#server,
      client: visible(this.#client),
      who: visible(loggedPrincipal(this.principal)),
      revision: this.#revision,
      spokenTo: this.#spokenTo,
      rule: this.#rule,
      asked: this.asked,
      hasLegs: this.#legs !== undefined,
    };
  }

  get view(): CallView {
    return { row: this.row, legs: this.#legs ?? [], approvals: this.#approvals, findings: this.#findings };
  }

  /** For those who are not the operator: what a step has removed, and why a rule decided, is not theirs. */
  get rowForUser(): CallRow {
    return { ...this.row, rule: null };
  }

  get viewForUser(): CallView {
    const legs = (this.#legs ?? []).filter(({ kind }) => !OF_SERVER.has(kind));
    return { row: this.rowForUser, legs, approvals: this.#approvals, findings: NONE };
  }
}

function bytesOf({ text }: CallLeg): number {
  return LEG_BYTES + 2 * (text?.length ?? 0);
}

function toText(name: string | undefined): string | null {
  return name === undefined ? null : visible(name);
}

function toApproval({ outcome = '', details = {} }: AuditEvent): CallView['approvals'][number] {
  const text = (value: unknown): string | null => (typeof value === 'string' ? visible(value) : null);
  return {
    outcome,
    way: text(details['way']) ?? '',
    by: text(details['by']),
    reason: text(details['reason']),
  };
}
