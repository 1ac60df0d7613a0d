// The findings of exploring a flow: plain JSON, as another process finds them.
import type { QuestionSpec } from '../engine/question-spec.ts';
import type { Stop } from './stop.ts';

export interface FoundQuestion {
  /** Without functions, and without parts that depend on made-up answers. */
  spec: QuestionSpec;
  /** Asked on every path through the body. */
  always: boolean;
}

export interface Exploration {
  questions: FoundQuestion[];
  /** By the keys of a round: the questions that always follow it and may be asked with it. */
  next: ReadonlyMap<string, QuestionSpec[]>;
  /** Where paths stopped before the end of the body. */
  stops: readonly Stop[];
}

export const NOTHING_FOUND: Exploration = { questions: [], next: new Map(), stops: [] };

export function toRoundKey(specs: readonly Pick<QuestionSpec, 'key'>[]): string {
  return specs.map(({ key }) => key).join(' ');
}
