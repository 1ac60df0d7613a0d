// Counts what is worth proving beside calls: refusals, approvals, logins and changed definitions. Users, tools and reasons are never labels.
import type { AuditEvent } from '../../../kernel/audit.ts';
import { ERRORS } from '../../../kernel/base/error-table.ts';
import type { Family } from '../../../kernel/base/metric.ts';
import type { EventHub } from '../../../kernel/events/event-hub.ts';

type Labels = Record<string, string>;

const KINDS: Partial<
  Record<AuditEvent['kind'], { name: string; help: string; labels: (event: AuditEvent) => Labels }>
> = {
  refusal: {
    name: 'parley_refusals_total',
    help: 'Callers that were turned away before their request was an exchange, by code of docs/errors.md and HTTP status.',
    labels: ({ outcome = '' }) => ({ code: toCode(outcome), status: toStatus(outcome) }),
  },
  approval: {
    name: 'parley_approvals_total',
    help: 'Answers of people to calls that wait for approval.',
    labels: ({ outcome = '' }) => ({ outcome: toWord(outcome) }),
  },
  login: {
    name: 'parley_logins_total',
    help: 'Logins of people and at servers.',
    labels: ({ server = '', outcome = '' }) => ({ server, outcome: toWord(outcome) }),
  },
  definition: {
    name: 'parley_definition_changes_total',
    help: 'Changes of what servers offer.',
    labels: ({ server = '', outcome = '' }) => ({ server, outcome: toWord(outcome) }),
  },
};

export class CountedEvents {
  readonly #counts = new Map<string, Map<string, { labels: Labels; value: number }>>();
  #isWatching = false;

  /** From the moment that somebody can see the counters. */
  watch(events: EventHub): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    events.watch({ what: 'observe.metrics', event: (event) => this.#count(event) });
  }

  /** All of them, also those that have counted nothing yet: an alert on a missing metric never fires. */
  families(): Family[] {
    return Object.values(KINDS).map(({ name, help }) => ({
      name,
      help,
      type: 'counter',
      samples: [...(this.#counts.get(name)?.values() ?? [])].map(({ labels, value }) => ({ labels, value })),
    }));
  }

  #count(event: AuditEvent): void {
    const kind = KINDS[event.kind];
    if (!kind) return;
    const labels = kind.labels(event);
    const counts = this.#counts.get(kind.name) ?? new Map<string, { labels: Labels; value: number }>();
    this.#counts.set(kind.name, counts);
    const key = JSON.stringify(labels);
    const one = counts.get(key) ?? { labels, value: 0 };
    counts.set(key, one);
    one.value++;
  }
}

function toCode(outcome: string): string {
  return outcome in ERRORS || outcome === 'PERSON_REFUSED' ? outcome : 'other';
}

function toStatus(outcome: string): string {
  return outcome in ERRORS ? String(ERRORS[outcome as keyof typeof ERRORS].status) : '';
}

/** Outcomes are words of ours; anything else would be a mistake that must not make time series. */
function toWord(outcome: string): string {
  return /^[a-z][a-z_ -]{0,30}$/.test(outcome) ? outcome : 'other';
}
