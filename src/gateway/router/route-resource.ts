// Finds the owner of a URI: the member that lists it, else those that are likely to have it, else those that list nothing and so do not say what
// they have. Nobody else gets the URI: it may hold a secret, and a server that answers for everything would get the reads that are meant for
// others. If no member has the resource, one that is away causes the error.
import type { Exchange } from '../../kernel/exchange.ts';
import { READ_RESOURCE } from '../../kernel/methods.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import type { CatalogList } from './list-cache.ts';
import type { Catalogs } from './catalogs.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';

/** Reads, subscriptions, and lists of a folder. */
export async function routeResource(exchange: Exchange, catalogs: Catalogs): Promise<ResultObject> {
  const { uri } = exchange.params;
  if (typeof uri !== 'string') {
    throw new GatewayError('INVALID_PARAMS', { parameter: 'uri', error: 'Required parameter missing' });
  }
  const owner = catalogs.uris.owner(uri);
  const member = owner && catalogs.member(owner.server);
  if (member) return read(member, { ...exchange.params, uri: owner.uri }, exchange, catalogs);
  const resources = await listAll('resources', exchange, catalogs);
  const lister = catalogs.members.find((_, index) => resources[index]!.entries.some((entry) => entry.uri === uri));
  if (lister) return read(lister, exchange.params, exchange, catalogs);
  const templates = await listAll('resourceTemplates', exchange, catalogs);
  const able = catalogs.members
    .map((member, index) => ({ member, resources: resources[index]!, templates: templates[index]! }))
    .filter(({ member }) => member.target.capabilities(exchange.client).resources);
  return tryEach(likelyMembers(uri, able), uri, exchange, catalogs);
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

/** In parallel: a slow server is waited for once. */
function listAll(
  area: 'resources' | 'resourceTemplates',
  { client }: Exchange,
  catalogs: Catalogs,
): Promise<CatalogList[]> {
  return Promise.all(catalogs.members.map((member) => catalogs.listOf(member, area, client)));
}

async function tryEach(
  members: readonly Member[],
  uri: string,
  exchange: Exchange,
  catalogs: Catalogs,
): Promise<ResultObject> {
  let failure: unknown;
  for (const member of members) {
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
  const away = catalogs.members.flatMap((member) => catalogs.away('resources', member.name) ?? []);
  throw failure ?? away[0] ?? new GatewayError('RESOURCE_NOT_FOUND', { uri });
}

function isNotFound(thrown: unknown, { method }: Exchange): boolean {
  if (thrown instanceof GatewayError) return thrown.code === 'RESOURCE_NOT_FOUND' || thrown.code === 'METHOD_NOT_FOUND';
  // Servers refuse a subscription to an unknown resource this way.
  return method !== READ_RESOURCE && thrown instanceof ProtocolError && [-32002, -32601, -32602].includes(thrown.code);
}

function isAway(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code.startsWith('UPSTREAM_');
}

interface MemberResources {
  member: Member;
  resources: CatalogList;
  templates: CatalogList;
}

/**
 * The members that may have an unlisted resource, and so may see its URI, in the order to ask them. If only one member has resources, it is always
 * asked: no other can be meant.
 */
export function likelyMembers(uri: string, able: readonly MemberResources[]): Member[] {
  if (able.length === 1) return [able[0]!.member];
  const ranked = able.map((one) => ({ member: one.member, rank: rankOf(uri, one) })).filter(({ rank }) => rank > 0);
  return ranked
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, MAX_ASKED)
    .map(({ member }) => member);
}

/** How many servers may be asked for one resource. */
const MAX_ASKED = 8;
/** Comes after every server that says what it has. */
const SILENT = 0.5;

/** The more of the URI a template writes out, the higher; 0: it is not asked. */
function rankOf(uri: string, { resources, templates }: MemberResources): number {
  const written = templates.entries.map(({ uriTemplate }) =>
    fitsTemplate(uri, uriTemplate) ? headOf(uriTemplate) : 0,
  );
  const longest = Math.max(0, ...written);
  if (longest > 0) return 1 + longest;
  const own = [...resources.entries.map((entry) => entry.uri), ...templates.entries.map((entry) => entry.uriTemplate)];
  if (own.length === 0) return resources.isUnknown ? 0 : SILENT;
  return own.some((one) => rootOf(one) !== undefined && rootOf(one) === rootOf(uri)) ? 1 : 0;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const WEB = /^https?:\/\/[^/?#{]+/i;

/** The length of what a template writes out before its first expression; 0 if that is not even a scheme. */
function headOf(template: unknown): number {
  const [head = ''] = String(template).split('{');
  return SCHEME.test(head) ? head.length : 0;
}

/** What tells resources of one kind: the scheme, and the host on the web. */
function rootOf(uri: unknown): string | undefined {
  const text = String(uri);
  const [scheme] = SCHEME.exec(text) ?? [];
  if (!scheme || !/^https?:$/i.test(scheme)) return scheme?.toLowerCase();
  return WEB.exec(text)?.[0].toLowerCase();
}

const EXPRESSION = /\{[^{}]*\}/;

/**
 * Checks whether a URI may come from a URI template (RFC 6570): its literal parts occur in order, the first at the start and the
 * last at the end. For literals without escapes there are no false negatives, but there may be false positives.
 */
export function fitsTemplate(uri: string, template: unknown): boolean {
  if (typeof template !== 'string') return false;
  const [head = '', ...rest] = template.split(EXPRESSION);
  const tail = rest.pop();
  if (tail === undefined) return uri === head;
  if (!uri.startsWith(head)) return false;
  let at = head.length;
  for (const literal of rest) {
    const found = uri.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return uri.length - tail.length >= at && uri.endsWith(tail);
}
