// What runs as a task.
import type { Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';

/** The work of a call; `say` reports its status to the client. */
export type TaskWork<T extends ResultObject = JsonObject> = (
  exchange: Exchange,
  say: (statusMessage: string) => void,
) => Promise<T>;
