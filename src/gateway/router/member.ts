// One of the targets behind a router, under its configured name.
import type { Target } from '../../protocol/target.ts';

export interface Member {
  readonly name: string;
  readonly target: Target;
  /** What it was made from, to see whether it is still wanted. */
  readonly entry?: unknown;
}
