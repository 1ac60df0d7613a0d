// A member of a router: a target under its configured name.
import { nameIn } from '../../kernel/named-thing.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { LastLists } from './last-lists.ts';
import type { Target } from '../../kernel/target.ts';

export interface Member {
  readonly name: string;
  readonly target: Target;
  /** The same object as long as the server has not been opened again. */
  readonly opening?: object | undefined;
  /** The settings of the server; each feature knows its own. */
  readonly settings?: object | undefined;
  /** What it listed before this process was there. */
  readonly lastLists?: LastLists | undefined;
}

/** Whether it is not known yet what it offers. A server that is not needed yet starts when somebody waits for it. */
export function isStarting({ target }: Member): boolean {
  return target.status?.state === 'starting' || target.status?.state === 'idle';
}

/** Forwards the exchange to this member; steps can see which one. */
export function handTo(member: Member, exchange: Exchange): Promise<ResultObject> | ResultObject {
  exchange.server = member.name;
  if (exchange.observed) exchange.observed.name = nameIn(exchange.method, exchange.params);
  return member.target.handle(exchange);
}
