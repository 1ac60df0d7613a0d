// What the step of rules is made of, and what it offers.
import type { Step } from '../../../kernel/step.ts';
import type { Change } from '../../../kernel/target.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { State } from '../../../kernel/state/state.ts';
import type { OwnRuleHistory } from './rule-history.ts';
import type { BegunUses, CurrentRules } from './running-use.ts';
import type { RuleOptions } from './rule.ts';

export interface RulesSetup {
  rules: readonly RuleOptions[];
  /** All servers of the gateway. */
  servers: readonly string[];
  /** Those whose annotations the operator believes. */
  trustedAnnotations: ReadonlySet<string>;
  clock: Clock;
  log: Log;
  state: State;
}

/** Outlives changes of the rules. */
export interface KeptHistory {
  history?: OwnRuleHistory;
  begun?: BegunUses;
  /** The rules of the moment. */
  current?: Promise<CurrentRules> | undefined;
}

export type RulesStep = Required<Pick<Step, 'handle' | 'onChange'>> & CurrentRules;

/** A change goes to all clients, so it names nothing that one of them may not see. */
export function withoutNames(change: Change): Change {
  return change.kind === 'tools' ? { kind: 'tools' } : change;
}
