// Judges again what is under way: a task, a session, a call whose question is open. Rules may change while it waits for somebody.
// 1. What was judged by the same rules continues. Their digest is sealed into its public id, so this holds after a restart, too.
// 2. Arguments are kept here, as far as they are small. Where they are not known, a rule that may forbid it does.
// 3. A rule that asks now forbids what began without a question: it has to begin again.
import type { RuleDecision } from '../../../kernel/audit.ts';
import type { Exchange, Run, RunGuard } from '../../../kernel/exchange.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import type { SupposedCall } from '../feature.ts';
import type { JudgedCall } from '../judged-call.ts';
import { toForbidden } from './judge.ts';
import type { RuleJudge, Use } from './judge.ts';
import type { RuleHistory } from './rule-history.ts';
import type { RuleOptions } from './rule.ts';

const MAX_RUNS = 2000;
const MAX_ARGUMENTS = 4096;

/** The rules of the moment. */
export interface CurrentRules {
  judge: RuleJudge;
  history: RuleHistory;
  digest: string;
  /** What they would decide about a call that nobody makes. */
  suppose(call: SupposedCall): Promise<JudgedCall>;
}

/** Something that began, by its public id. Outlives changes of the rules. */
export class BegunUses {
  readonly #uses = new BoundedMap<string, BegunUse>(MAX_RUNS);

  keep(id: string, { use, decision }: BegunUse): void {
    const isSmall = JSON.stringify(use.args ?? {}).length <= MAX_ARGUMENTS;
    this.#uses.set(id, { use: isSmall ? use : { ...use, args: undefined, mustBeSure: true }, decision });
  }

  find({ id, server, tool }: Run): BegunUse {
    const origin = tool === undefined ? undefined : { server, name: tool };
    const unknown: Use = {
      kind: 'tool',
      origin,
      name: tool ?? server,
      method: CALL_TOOL,
      args: undefined,
      mustBeSure: true,
    };
    return this.#uses.peek(id) ?? { use: unknown, decision: undefined };
  }
}

interface BegunUse {
  use: Use;
  /** By which it began. */
  decision: RuleDecision | undefined;
}

interface Around {
  rules: CurrentRules;
  begun: BegunUses;
  /** The rules at the time of the call; undefined if there are no rules any more. */
  current: () => Promise<CurrentRules> | undefined;
}

export class RunningUse implements RunGuard {
  readonly #around: Around;
  readonly #exchange: Exchange;
  #use: BegunUse | undefined;

  constructor(around: Around, exchange: Exchange, use?: Use) {
    this.#around = around;
    this.#exchange = exchange;
    this.#use = use && { use, decision: exchange.decision };
  }

  get rules(): string {
    return this.#around.rules.digest;
  }

  began(id: string): void {
    if (this.#use) this.#around.begun.keep(id, this.#use);
  }

  require(run: Run): void {
    this.#use = this.#around.begun.find(run);
    if (run.rules !== this.rules) this.#judge(this.#around.rules, this.#use);
  }

  async answered(): Promise<void> {
    const current = await this.#around.current();
    if (!this.#use || !current || current.digest === this.rules) return;
    await current.history.load(this.#exchange.client);
    this.#judge(current, this.#use);
  }

  #judge({ judge }: CurrentRules, { use, decision: first }: BegunUse): void {
    const { decision } = judge.judge(use, this.#exchange.client);
    if (!decision || decision.effect === 'allow' || (decision.effect === 'ask' && first?.effect === 'ask')) return;
    this.#exchange.decision = decision;
    throw toForbidden(decision, use.name);
  }
}

export function rulesDigest(rules: readonly RuleOptions[]): string {
  return sha256(JSON.stringify(rules), 'base64url').slice(0, 16);
}
