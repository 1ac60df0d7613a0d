// What was measured in a group: by contender and figure, every value with the round it belongs to.
import { median } from '../report/quantile.mjs';

export class Taken {
  #values = {};
  #lives = 0;

  /** Rounds of different lives are different rounds. */
  newLife() {
    this.#lives += 1;
  }

  push({ name }, figure, value, round = 0) {
    ((this.#values[name] ??= {})[figure] ??= new Map()).set(`${this.#lives}.${round}`, value);
  }

  has(name, figure) {
    return this.#values[name]?.[figure] !== undefined;
  }

  /** The median of one contender; `part` of values that have parts. */
  median(name, figure, part) {
    const values = this.#values[name]?.[figure];
    return values && median([...values.values()].map((value) => (part ? value[part] : value)));
  }

  /** The median of what two contenders make of each other in the same round. */
  compare([name, other], { figure, part }, how) {
    const ones = this.#values[name]?.[figure];
    const others = this.#values[other]?.[figure];
    if (!ones || !others) return undefined;
    const pick = (value) => (part ? value[part] : value);
    const rounds = [...ones.keys()].filter((round) => others.has(round));
    if (rounds.length === 0) return undefined;
    return median(rounds.map((round) => how(pick(ones.get(round)), pick(others.get(round)))));
  }
}
