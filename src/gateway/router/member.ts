// One of the targets behind a router, under its configured name.
import type { Target } from '../../protocol/target.ts';

export interface Member {
  readonly name: string;
  readonly target: Target;
}
