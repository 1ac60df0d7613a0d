// What the audit log records. A part that decides something or sees something worth proving tells the gateway's hub of it (events/); the log adds the time
// and the chain, and writes it. Events never carry values of arguments or secrets, only their shapes.
import type { JsonObject } from './message.ts';

/** What a rule decided about an exchange, for the event of its call. */
export interface RuleDecision {
  /** Names the rule in the configuration, such as `rules[2]`. */
  readonly rule: string;
  readonly effect: 'allow' | 'ask' | 'deny' | 'hide';
  /** Nobody knows what the rule says: its expression takes too long with these arguments. */
  readonly isUnjudged?: true;
}

export interface AuditEvent {
  /**
   * `call`: a request with its outcome. `approval`: a person's answer, the receipt. `refusal`: a caller or a file that was turned away.
   * `login`: an account was used, renewed or lost. `definition`: a server changed what it offers.
   */
  readonly kind: 'call' | 'approval' | 'refusal' | 'login' | 'definition';
  /** The exchange's id, as in the log. */
  readonly exchange?: string | undefined;
  /** As `loggedPrincipal` writes it. */
  readonly principal?: string | undefined;
  readonly server?: string | undefined;
  /** The method, and the server's own name of the tool, prompt or resource. */
  readonly method?: string | undefined;
  readonly name?: string | undefined;
  readonly decision?: RuleDecision | undefined;
  /** How it ended, in one word or the name of an error. */
  readonly outcome?: string | undefined;
  /** How long it took, in milliseconds. */
  readonly ms?: number | undefined;
  /** Whatever else belongs to this kind of event. */
  readonly details?: JsonObject | undefined;
}

/** Takes an event; never throws and never waits. */
export interface RecordAudit {
  (event: AuditEvent): void;
  /** How many events it could not write so far. */
  readonly lost?: (() => number) | undefined;
}
