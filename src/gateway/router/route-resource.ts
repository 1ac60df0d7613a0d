// Finds the owner of a URI: the member that lists it, else one with a matching template, else one that can read it. Templates are
// not conclusive, so several members may be tried, in configuration order. If no member has the resource, one that is away causes
// the error.
import type { Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import type { Catalogs } from './catalogs.ts';
import { fitsTemplate } from './fits-template.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';

export async function routeResource(exchange: Exchange, catalogs: Catalogs): Promise<ResultObject> {
  const { uri } = exchange.params;
  if (typeof uri !== 'string') {
    throw new GatewayError('INVALID_PARAMS', { parameter: 'uri', error: 'Required parameter missing' });
  }
  const owner = catalogs.uris.owner(uri);
  const member = owner && catalogs.member(owner.server);
  if (member) return read(member, { ...exchange.params, uri: owner.uri }, exchange, catalogs);
  const has = (area: 'resources' | 'resourceTemplates', fits: (entry: Record<string, unknown>) => boolean) =>
    whoHas(area, fits, exchange, catalogs);
  const [lister] = await has('resources', (entry) => entry.uri === uri);
  if (lister) return read(lister, exchange.params, exchange, catalogs);
  const likely = await has('resourceTemplates', (entry) => fitsTemplate(uri, entry.uriTemplate));
  const others = catalogs.members.filter((member) => !likely.includes(member));
  return tryEach([...likely, ...others], uri, exchange, catalogs);
}

async function read(
  member: Member,
  params: Exchange['params'],
  exchange: Exchange,
  catalogs: Catalogs,
): Promise<ResultObject> {
  catalogs.requireAllowed(exchange, member, params.uri);
  const asked = exchange.params;
  exchange.params = params;
  try {
    return await catalogs.publishResult(member, await handTo(member, exchange), exchange.client);
  } finally {
    exchange.params = asked; // the client's own URI identifies its subscription
  }
}

async function tryEach(
  members: readonly Member[],
  uri: string,
  exchange: Exchange,
  catalogs: Catalogs,
): Promise<ResultObject> {
  let failure: unknown;
  for (const member of members) {
    if (!member.target.capabilities(exchange.client).resources) continue;
    if (!catalogs.isAllowed(exchange, member, uri)) {
      failure ??= new GatewayError('ACCESS_DENIED', { uri });
      continue;
    }
    try {
      return await catalogs.publishResult(member, await handTo(member, exchange), exchange.client);
    } catch (thrown) {
      if (isNotFound(thrown, exchange)) continue;
      if (!isAway(thrown)) throw thrown;
      failure ??= thrown;
    }
  }
  throw failure ?? new GatewayError('RESOURCE_NOT_FOUND', { uri });
}

/** In parallel: a slow server is waited for once. */
async function whoHas(
  area: 'resources' | 'resourceTemplates',
  fits: (entry: Record<string, unknown>) => boolean,
  { client }: Exchange,
  catalogs: Catalogs,
): Promise<Member[]> {
  const lists = await Promise.all(catalogs.members.map((member) => catalogs.listOf(member, area, client)));
  return catalogs.members.filter((_, index) => lists[index]!.entries.some(fits));
}

function isNotFound(thrown: unknown, { method }: Exchange): boolean {
  if (thrown instanceof GatewayError) return thrown.code === 'RESOURCE_NOT_FOUND' || thrown.code === 'METHOD_NOT_FOUND';
  // Servers refuse a subscription to an unknown resource this way.
  return method !== 'resources/read' && thrown instanceof ProtocolError && [-32002, -32602].includes(thrown.code);
}

function isAway(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code.startsWith('UPSTREAM_');
}
