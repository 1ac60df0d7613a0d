// Finds the member that answers a request: a tool or prompt by its public name, a resource by its list or template, a task by its
// sealed id.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { Exchange } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { rowOf } from '../../kernel/methods.ts';
import type { ListArea } from '../../kernel/methods.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { SERVER_KEY } from '../../kernel/target.ts';
import { readRef } from '../../kernel/named-thing.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import type { Catalogs } from './catalogs.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';
import { extensionsApart } from './merge-opening.ts';
import { routeResource } from './route-resource.ts';
import { routeSkills } from './route-skills.ts';
import { publishTask, routeTask } from './route-task.ts';
import type { PublicIds } from './public-ids.ts';

export async function routeByMethod(exchange: Exchange, catalogs: Catalogs, ids: PublicIds): Promise<ResultObject> {
  const { kind, area } = rowOf(exchange.method) ?? {};
  if (area === 'skills') return routeSkills(exchange, catalogs);
  switch (kind) {
    case 'list':
      return listPage(exchange, catalogs, area!);
    case 'use':
    case 'subscription':
      if (area === 'tools') {
        const { member, result } = await byName(exchange, catalogs, area);
        return publishTask(exchange, member, ids, result);
      }
      if (area === 'prompts') return (await byName(exchange, catalogs, area)).result;
      return routeResource(exchange, catalogs);
    case 'completion':
      return complete(exchange, catalogs);
    case 'task':
      return routeTask(exchange, catalogs.members, ids);
    default:
      return routeCustom(exchange, catalogs);
  }
}

/** Lists have one page: many clients never request a second one. */
async function listPage({ params, client }: Exchange, catalogs: Catalogs, area: ListArea): Promise<JsonObject> {
  if (params.cursor !== undefined) {
    throw new GatewayError('INVALID_PARAMS', { parameter: 'cursor', error: 'Invalid cursor' });
  }
  const { entries, ttlMs, isPrivate, more } = await catalogs.list(area, client);
  const cacheScope = isPrivate ? 'private' : 'public';
  return { ...more, [area]: entries, ttlMs: Number.isFinite(ttlMs) ? ttlMs : 0, cacheScope };
}

async function byName(exchange: Exchange, catalogs: Catalogs, area: 'tools' | 'prompts') {
  const { name } = exchange.params;
  if (typeof name !== 'string') {
    throw new GatewayError('INVALID_PARAMS', { parameter: 'name', error: 'Required parameter missing' });
  }
  const owner = await catalogs.owner(area, name, exchange.client);
  const member = owner && catalogs.member(owner.server);
  if (!member) throw catalogs.unknown(area, name);
  if (owner.name !== name) exchange.params = { ...exchange.params, name: owner.name };
  return { member, result: await catalogs.publishResult(member, await handTo(member, exchange), exchange.client) };
}

async function complete(exchange: Exchange, catalogs: Catalogs): Promise<ResultObject> {
  const about = readRef(exchange.params);
  const ref = exchange.params.ref as JsonObject;
  if ('prompt' in about) {
    const owner = await catalogs.owner('prompts', about.prompt, exchange.client);
    const member = owner && catalogs.member(owner.server);
    if (!member) throw unknownRef(`Prompt ${about.prompt} not found`);
    exchange.params = { ...exchange.params, ref: { ...ref, name: owner.name } };
    return handTo(member, exchange);
  }
  const { template } = about;
  const owner = catalogs.uris.owner(template);
  const asked = owner && catalogs.member(owner.server);
  if (asked) {
    catalogs.requireAllowed(exchange, asked, owner.uri);
    exchange.params = { ...exchange.params, ref: { ...ref, uri: owner.uri } };
    return handTo(asked, exchange);
  }
  for (const member of catalogs.members) {
    const { entries } = await catalogs.listOf(member, 'resourceTemplates', exchange.client);
    if (!entries.some((entry) => entry.uriTemplate === template)) continue;
    catalogs.requireAllowed(exchange, member, template);
    return handTo(member, exchange);
  }
  throw unknownRef(`Resource template ${template} not found`);
}

function unknownRef(error: string): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter: 'ref', error });
}

const METHOD_NOT_FOUND = -32601;

/**
 * Routes a custom method among several servers.
 * 1. The client may name the server: `_meta["mcp-parley/server"]`.
 * 2. Otherwise the servers are tried in configuration order, and the first that knows the method answers. A server that cannot be
 *    reached ends the search, so that no other one acts in its place.
 * 3. Servers that share an extension are not tried: the method may be part of it, and one would answer for all.
 */
async function routeCustom(exchange: Exchange, { members }: Catalogs): Promise<ResultObject> {
  const names = members.map(({ name }) => name).join(', ');
  const { params, method } = exchange;
  const meta = isObject(params._meta) ? params._meta : undefined;
  const named = meta?.[SERVER_KEY];
  if (meta && named !== undefined) {
    const member = members.find(({ name }) => name === named);
    if (!member) {
      const error = `There is no server ${JSON.stringify(named)}; use one of ${names}`;
      throw new GatewayError('INVALID_PARAMS', { parameter: `_meta["${SERVER_KEY}"]`, error });
    }
    exchange.params = { ...params, _meta: without(meta, SERVER_KEY) };
    return handTo(member, exchange);
  }
  const apart = membersApart(members, exchange);
  for (const member of members) {
    if (apart.has(member)) continue;
    try {
      return await handTo(member, exchange);
    } catch (thrown) {
      if (!isUnknownMethod(thrown)) throw thrown;
    }
  }
  if (apart.size === 0)
    throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', `No server knows ${method}; tried: ${names}`);
  const paths = [...apart].map(({ name }) => `/mcp/${encodeURIComponent(name)}`).join(' or ');
  const reason = `Several servers may know ${method}: use it at ${paths}, or name the server in _meta["${SERVER_KEY}"]`;
  throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', reason);
}

/** Those that have an extension which another one has, too, and which nobody joins. */
function membersApart(members: readonly Member[], { client }: Exchange): Set<Member> {
  const declared = members.map((member) => ({ member, capabilities: member.target.capabilities(client) }));
  const apart = extensionsApart(declared.map(({ capabilities }) => capabilities));
  const has = ({ extensions = {} }: ServerCapabilities): boolean => apart.some((name) => name in extensions);
  return new Set(declared.filter(({ capabilities }) => has(capabilities)).map(({ member }) => member));
}

function without(meta: JsonObject, key: string): JsonObject | undefined {
  const { [key]: _, ...rest } = meta;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

function isUnknownMethod(thrown: unknown): boolean {
  if (thrown instanceof ProtocolError) return thrown.code === METHOD_NOT_FOUND;
  return thrown instanceof GatewayError && (thrown.code === 'METHOD_NOT_FOUND' || thrown.code === 'NOT_SUPPORTED');
}
