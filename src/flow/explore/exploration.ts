// What exploring has found in a flow. All of it is plain JSON, since it is found in another process than the one that serves the flow.
import type { QuestionSpec } from '../engine/question-spec.ts';
import type { Stop } from './stop.ts';

export interface FoundQuestion {
  /** Without functions, and without anything that depends on made-up answers. */
  spec: QuestionSpec;
  /** Asked on every way through the body. */
  always: boolean;
}

export interface Exploration {
  questions: FoundQuestion[];
  /** What may be asked together with these questions, by their keys: it comes next, whatever is answered to them. */
  next: ReadonlyMap<string, QuestionSpec[]>;
  /** Where it ended before the end of the body. */
  stops: readonly Stop[];
}

export const NOTHING_FOUND: Exploration = { questions: [], next: new Map(), stops: [] };

export function toRoundKey(specs: readonly Pick<QuestionSpec, 'key'>[]): string {
  return specs.map(({ key }) => key).join(' ');
}
