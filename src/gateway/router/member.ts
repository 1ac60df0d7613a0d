// One of the targets behind a router, under its configured name.
import type { Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { Target } from '../../protocol/target.ts';

export interface Member {
  readonly name: string;
  readonly target: Target;
  /** What it was made from, to see whether it is still wanted. */
  readonly entry?: unknown;
}

/** Lets this member answer. From here on, steps can tell who does. */
export function handTo(member: Member, exchange: Exchange): Promise<ResultObject> | ResultObject {
  exchange.server = member.name;
  return member.target.handle(exchange);
}
