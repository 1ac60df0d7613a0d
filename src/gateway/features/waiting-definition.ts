// A definition of a server that waits until a person accepts it, as features offer it and the console shows it. Types only: pages for browsers import them.

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Which one was shown, and as what. */
export interface ShownDefinition {
  readonly server: string;
  readonly area: string;
  readonly name: string;
  /** What was shown, so that nothing else is accepted. */
  readonly digests: string;
}

/** It has changed since it was accepted. */
export interface WaitingDefinition extends ShownDefinition {
  readonly state: 'removed' | 'changed' | 'new';
  /** What is different, word by word. */
  readonly lines: readonly (readonly DiffPart[])[];
}
