// Skills (SEP-2640) of several servers as those of one.
// 1. Every URI of a skill says whose it is, so that two servers may have the same: `skill://pdf/SKILL.md` of docs is
//    `skill://docs/pdf/SKILL.md`. A URI of another scheme stays as it is, and belongs to the first server that lists it.
// 2. Nothing else in an entry changes: digests are of files, and files pass as they are.
// 3. A server that cannot list its skills does not keep those of the others from clients.
import type { Exchange } from '../../kernel/exchange.ts';
import { SKILLS_EXTENSION } from '../../kernel/extensions.ts';
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { isObject, readString } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { pages } from '../../kernel/pages.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import { isReserved } from '../../kernel/server-uri.ts';
import { LIST_SKILLS } from '../../kernel/methods.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import type { Catalogs } from './catalogs.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';

interface MemberSkills {
  skills: JsonObject[];
  ttlMs: number;
  isPrivate: boolean;
}

export async function routeSkills(exchange: Exchange, catalogs: Catalogs): Promise<JsonObject> {
  const members = catalogs.members.filter(({ target }) => isSkilled(target.capabilities(exchange.client)));
  if (members.length === 0) throw new GatewayError('METHOD_NOT_FOUND', { method: exchange.method });
  return exchange.method === LIST_SKILLS ? list(exchange, members, catalogs) : one(exchange, members, catalogs);
}

function isSkilled({ extensions }: ReturnType<Member['target']['capabilities']>): boolean {
  return isObject(extensions?.[SKILLS_EXTENSION]);
}

/** Lists have one page, as all lists of a gateway. */
async function list(exchange: Exchange, members: readonly Member[], catalogs: Catalogs): Promise<JsonObject> {
  if (exchange.params.cursor !== undefined)
    throw new GatewayError('INVALID_PARAMS', { parameter: 'cursor', error: 'Invalid cursor' });
  const settled = await Promise.allSettled(members.map((member) => listOf(member, exchange)));
  const lists = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [failed] = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  if (lists.length === 0 && failed) throw failed;
  const seen = new Set<unknown>();
  const skills = settled.flatMap((one, index) => {
    const { skills: own } = one.status === 'fulfilled' ? one.value : { skills: [] };
    const allowed = own.filter(({ uri }) => catalogs.isAllowed(exchange, members[index]!, String(uri)));
    return allowed.map((skill) => publishSkill(skill, members[index]!, catalogs));
  });
  return {
    skills: skills.filter(({ uri }) => !seen.has(uri) && seen.add(uri)),
    ttlMs: failed ? 0 : Math.min(...lists.map(({ ttlMs }) => ttlMs)),
    cacheScope: lists.some(({ isPrivate }) => isPrivate) ? 'private' : 'public',
  };
}

async function listOf({ target }: Member, { client, signal }: Exchange): Promise<MemberSkills> {
  const all: MemberSkills = { skills: [], ttlMs: Infinity, isPrivate: false };
  const fetch = async (params: JsonObject): Promise<JsonObject> =>
    toPlainObject(await target.handle(new InternalExchange(LIST_SKILLS, params, client, signal)));
  for await (const page of pages({ key: 'skills', fetch })) {
    const { skills, ttlMs, cacheScope } = page;
    if (Array.isArray(skills)) all.skills.push(...skills.filter(isObject));
    all.ttlMs = Math.min(all.ttlMs, typeof ttlMs === 'number' ? ttlMs : 0);
    all.isPrivate ||= cacheScope !== 'public';
  }
  return { ...all, ttlMs: Number.isFinite(all.ttlMs) ? all.ttlMs : 0 };
}

/** One skill, or one folder. A URI that does not say whose it is leads to the first server that has it. */
async function one(exchange: Exchange, members: readonly Member[], catalogs: Catalogs): Promise<JsonObject> {
  const uri = readString(exchange.params, 'uri');
  const owner = catalogs.uris.owner(uri);
  const named = owner && members.find(({ name }) => name === owner.server);
  const asked = named ? [{ member: named, own: owner.uri }] : members.map((member) => ({ member, own: uri }));
  let failure: unknown;
  for (const { member, own } of asked) {
    if (!catalogs.isAllowed(exchange, member, own)) {
      failure ??= new GatewayError('ACCESS_DENIED', { uri });
      continue;
    }
    try {
      const request = deriveExchange(exchange, { params: { ...exchange.params, uri: own } });
      const result = toPlainObject(await handTo(member, request));
      exchange.server = member.name;
      return publish(result, member, catalogs);
    } catch (thrown) {
      failure = thrown;
      if (!isUnknown(thrown)) break;
    }
  }
  throw failure;
}

function isUnknown(thrown: unknown): boolean {
  if (thrown instanceof ProtocolError) return [-32002, -32601, -32602].includes(thrown.code);
  return (
    thrown instanceof GatewayError && ['RESOURCE_NOT_FOUND', 'METHOD_NOT_FOUND', 'NOT_SUPPORTED'].includes(thrown.code)
  );
}

function publish(result: JsonObject, member: Member, catalogs: Catalogs): JsonObject {
  const { skill, resources } = result;
  return {
    ...result,
    ...(isObject(skill) && { skill: publishSkill(skill, member, catalogs) }),
    ...(Array.isArray(resources) && { resources: resources.map((entry) => publishUri(entry, member, catalogs)) }),
  };
}

function publishSkill(skill: JsonObject, member: Member, catalogs: Catalogs): JsonObject {
  const { resources } = skill;
  const files = Array.isArray(resources) && {
    resources: resources.map((file) => publishUri(file, member, catalogs)),
  };
  return { ...(publishUri(skill, member, catalogs) as JsonObject), ...files };
}

/** Paths within a skill are relative to its URI, so only a URI that keeps its form is changed. */
function publishUri(entry: unknown, { name }: Member, { uris }: Catalogs): unknown {
  if (!isObject(entry) || typeof entry.uri !== 'string' || !isReserved(entry.uri)) return entry;
  return { ...entry, uri: uris.publish(name, entry.uri) };
}
