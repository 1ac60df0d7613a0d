// What an era is made of, and a revision. Each era has a folder; list.ts names the revisions, which lead to everything else.
import type { Spoken } from '../../kernel/era/era.ts';
import type { MethodRegistry } from './methods.ts';

export interface Revision extends Spoken {
  /** As lists of revisions name it. */
  readonly name: string;
  /** What its clients may send. */
  readonly methods: MethodRegistry;
}
