// What answers the requests of one method or tool.
import type { Exchange } from '../../kernel/exchange.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type * as Types from './types.ts';

export type RequestHandler = (exchange: Exchange) => Types.MaybePromise<ResultObject>;
