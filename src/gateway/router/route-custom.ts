// Routes a custom method among several servers.
// 1. The client may name the server: `_meta["mcp-parley/server"]`.
// 2. Otherwise the servers are tried in configuration order, and the first that knows the method answers. A server that cannot be
//    reached ends the search, so that no other one acts in its place.
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';

const SERVER = 'mcp-parley/server';
const METHOD_NOT_FOUND = -32601;

export async function routeCustom(exchange: Exchange, members: readonly Member[]): Promise<ResultObject> {
  const names = members.map(({ name }) => name).join(', ');
  const { params, method } = exchange;
  const meta = isObject(params._meta) ? params._meta : undefined;
  const named = meta?.[SERVER];
  if (meta && named !== undefined) {
    const member = members.find(({ name }) => name === named);
    if (!member) {
      const error = `There is no server ${JSON.stringify(named)}; use one of ${names}`;
      throw new GatewayError('INVALID_PARAMS', { parameter: `_meta["${SERVER}"]`, error });
    }
    exchange.params = { ...params, _meta: without(meta, SERVER) };
    return handTo(member, exchange);
  }
  for (const member of members) {
    try {
      return await handTo(member, exchange);
    } catch (thrown) {
      if (!isUnknownMethod(thrown)) throw thrown;
    }
  }
  throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', `No server knows ${method}; tried: ${names}`);
}

function without(meta: JsonObject, key: string): JsonObject | undefined {
  const { [key]: _, ...rest } = meta;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

function isUnknownMethod(thrown: unknown): boolean {
  if (thrown instanceof ProtocolError) return thrown.code === METHOD_NOT_FOUND;
  return thrown instanceof GatewayError && (thrown.code === 'METHOD_NOT_FOUND' || thrown.code === 'NOT_SUPPORTED');
}
