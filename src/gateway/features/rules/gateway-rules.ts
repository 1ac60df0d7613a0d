// The rules of a gateway, as its innermost step: they judge what a server will get. Their code is loaded only if there are any.
import type { Step } from '../../../kernel/step.ts';
import type { Checkpoint, SupposedCall } from '../feature.ts';
import type { JudgedCall, ShownRule } from '../judged-call.ts';
import { toolNamesIn } from './rule.ts';
import type { RuleOptions } from './rule.ts';
import type { RulesSetup, KeptHistory, RulesStep } from './rules-setup.ts';
import { withoutNames } from './rules-setup.ts';

export class GatewayRules {
  rules: readonly RuleOptions[] = [];
  readonly #kept: KeptHistory = {};
  #ready: Promise<unknown> = Promise.resolve();

  /** Rejects if the rules cannot be used; every request then fails, too. */
  get ready(): Promise<unknown> {
    return this.#ready;
  }

  checkpoint(): Checkpoint {
    const { rules } = this;
    const ready = this.#ready;
    const { current } = this.#kept;
    return {
      undo: () => {
        this.rules = rules;
        this.#ready = ready;
        this.#kept.current = current;
      },
    };
  }

  /** As people see them. */
  get shown(): ShownRule[] {
    return this.rules.map((rule, index) => ({
      name: `rules[${index}]`,
      effect: rule.effect ?? null,
      text: JSON.stringify(rule),
    }));
  }

  /** Undefined without rules. */
  async judge(call: SupposedCall): Promise<JudgedCall | undefined> {
    return (await this.#kept.current)?.suppose(call);
  }

  steps(around: Omit<RulesSetup, 'rules'>): Step[] {
    const setup: RulesSetup = { ...around, rules: this.rules };
    this.#kept.current = undefined;
    if (setup.rules.length === 0) return [];
    let made: RulesStep | undefined;
    const making = import('./rules-step.ts').then(
      async (module) => (made = await module.createRulesStep(setup, this.#kept)),
    );
    this.#ready = this.#kept.current = making;
    making.catch(() => {}); // told by `ready`, and to every request
    return [
      {
        name: 'rules',
        seesStarts: true,
        toolRules: toolNamesIn(setup.rules),
        handle: (exchange, next, lookUp, originOf) =>
          made
            ? made.handle!(exchange, next, lookUp, originOf)
            : making.then((step) => step.handle!(exchange, next, lookUp, originOf)),
        onChange: (change, originOf) => (made ? made.onChange!(change, originOf) : withoutNames(change)),
      },
    ];
  }
}
