// What would happen to a call that nobody makes, as features judge it and the console shows it. Types only: pages for browsers import them.

export type CallEffect = 'allow' | 'ask' | 'deny' | 'hide';

/** A rule by which a feature judges. */
export interface ShownRule {
  /** Such as `rules[2]`. */
  readonly name: string;
  readonly effect: CallEffect | null;
  /** As JSON. */
  readonly text: string;
}

/** What became of a rule, in the order in which they were looked at. */
export interface CheckedRule {
  readonly name: string;
  readonly decides: boolean;
  readonly why: string;
}

export interface JudgedCall {
  /** Who judges: `rules`, `scopes`, or the settings of the server. */
  readonly by: string;
  readonly effect: CallEffect;
  /** The rule or setting that decides; null if none does. */
  readonly rule: string | null;
  readonly why: string;
  readonly checked: readonly CheckedRule[];
}
