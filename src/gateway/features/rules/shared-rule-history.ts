// What each principal, and each session, has read at all gateways that share a state.
// 1. What this client has read is loaded once for each request, so that it can be judged without waiting.
// 2. A mark is written before the call is made, so calls in flight count at every gateway.
// 3. What cannot be read counts as unknown: a rule that depends on it refuses.
// Times are those of the gateways. Their clocks may differ by a minute: so much longer a mark counts.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { State } from '../../../kernel/state/state.ts';
import type { ReadyRule } from './read-rules.ts';
import { principalKey, sessionKey } from './rule-history.ts';
import type { HistorySpan, MarkTimes, RuleHistory } from './rule-history.ts';
import type { RuleMark } from './rule.ts';

const SET = 'rule-history';
/** So much of a difference of clocks is forgiven. */
const SLACK_MS = 60_000;
/** Marks are dated forward by this, so that one that was just written need not be written again. */
const GRAIN_MS = 5000;
/** At least; what expressions ask for has no end, and rules may change. */
const MIN_KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_TRIES = 20;

type Loaded = { readonly principal: MarkTimes; readonly session: MarkTimes | undefined } | { readonly failed: unknown };

interface Row {
  times: MarkTimes;
  version: number;
}

export class SharedRuleHistory implements RuleHistory {
  readonly #state: State;
  readonly #clock: Clock;
  readonly #loaded = new WeakMap<ClientView, Loaded>();
  readonly #isAsked: boolean;
  readonly #isPerSession: boolean;
  readonly #keptMs: number;

  /** `rules`: which will ask. */
  constructor({ state, clock, rules }: { state: State; clock: Clock; rules: readonly ReadyRule[] }) {
    this.#state = state;
    this.#clock = clock;
    this.#isAsked = rules.some(({ after, when }) => after !== undefined || when?.includes('history') === true);
    this.#isPerSession = rules.some(({ after, per }) => after !== undefined && per === 'session');
    this.#keptMs = Math.max(MIN_KEPT_MS, ...rules.map(({ withinMs }) => withinMs + SLACK_MS + GRAIN_MS));
  }

  load(client: ClientView): Promise<void> | undefined {
    return this.#isAsked ? this.#load(client) : undefined;
  }

  note(client: ClientView, marks: readonly RuleMark[]): Promise<void> {
    return Promise.all(this.#keysOf(client).map((key) => this.#note(key, marks))).then(() => {});
  }

  has(client: ClientView, marks: readonly RuleMark[], { per, withinMs }: HistorySpan): boolean {
    if (!this.#isAsked) return false;
    const loaded = this.#loaded.get(client) ?? { failed: undefined };
    if ('failed' in loaded) throw toFailed(loaded.failed);
    const times = (per === 'session' ? loaded.session : undefined) ?? loaded.principal;
    const since = this.#clock.now() - SLACK_MS - withinMs;
    return marks.every((mark) => (times[mark] ?? -Infinity) > since);
  }

  /** Never rejects: only who has to know is told. */
  async #load(client: ClientView): Promise<void> {
    try {
      const [principal, session] = await Promise.all(this.#keysOf(client).map((key) => this.#read(key)));
      this.#loaded.set(client, { principal: principal!.times, session: session?.times });
    } catch (failed) {
      this.#loaded.set(client, { failed });
    }
  }

  #keysOf(client: ClientView): string[] {
    const session = this.#isPerSession ? sessionKey(client) : undefined;
    return [principalKey(client), ...(session === undefined ? [] : [session])];
  }

  async #read(key: string): Promise<Row> {
    const entry = await this.#state.get(SET, key);
    return entry ? { times: JSON.parse(entry.value) as MarkTimes, version: entry.version } : { times: {}, version: 0 };
  }

  async #note(key: string, marks: readonly RuleMark[]): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { times, version } = await this.#read(key);
      const now = this.#clock.now();
      if (marks.every((mark) => (times[mark] ?? -Infinity) >= now)) return;
      const next = { ...times, ...Object.fromEntries(marks.map((mark) => [mark, now + GRAIN_MS])) };
      const at = { version, ttlMs: this.#keptMs };
      if ((await this.#state.put(SET, key, JSON.stringify(next), at)) !== undefined) return;
    }
    throw toFailed(new Error('others change it all the time'));
  }
}

function toFailed(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : new GatewayError('STATE_FAILED', {}, { cause });
}
