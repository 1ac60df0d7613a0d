// The owner of a URI: who lists it, else who can read it. Templates say too little to be sure, so they are tried in order.
import type { Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Catalogs } from './catalogs.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';

export async function routeResource(exchange: Exchange, catalogs: Catalogs): Promise<ResultObject> {
  const { uri } = exchange.params;
  if (typeof uri !== 'string') {
    throw new GatewayError('INVALID_PARAMS', { parameter: 'uri', error: 'Required parameter missing' });
  }
  const lister = await whoLists(uri, exchange, catalogs);
  if (lister) return handTo(lister, exchange);
  for (const member of catalogs.members) {
    if (!member.target.capabilities(exchange.client).resources) continue;
    try {
      return await handTo(member, exchange);
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
    }
  }
  throw new GatewayError('RESOURCE_NOT_FOUND', { uri });
}

async function whoLists(uri: string, { client }: Exchange, catalogs: Catalogs): Promise<Member | undefined> {
  for (const member of catalogs.members) {
    const { entries } = await catalogs.listOf(member, 'resources', client);
    if (entries.some((entry) => entry.uri === uri)) return member;
  }
  return undefined;
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof GatewayError && (thrown.code === 'RESOURCE_NOT_FOUND' || thrown.code === 'METHOD_NOT_FOUND');
}
