// Finds the members that may have an unlisted resource, and so may see its URI.
import { fitsTemplate } from './fits-template.ts';
import type { CatalogList } from './catalog.ts';
import type { Member } from './member.ts';

export interface MemberResources {
  member: Member;
  resources: CatalogList;
  templates: CatalogList;
}

/** In the order to ask them. If only one member has resources, it is always asked: no other can be meant. */
export function likelyMembers(uri: string, able: readonly MemberResources[]): Member[] {
  if (able.length === 1) return [able[0]!.member];
  const ranked = able.map((one) => ({ member: one.member, rank: rankOf(uri, one) })).filter(({ rank }) => rank > 0);
  return ranked.toSorted((one, other) => other.rank - one.rank).map(({ member }) => member);
}

/** The more of the URI a template writes out, the higher; 0: it is not asked. */
function rankOf(uri: string, { resources, templates }: MemberResources): number {
  const written = templates.entries.map(({ uriTemplate }) =>
    fitsTemplate(uri, uriTemplate) ? headOf(uriTemplate) : 0,
  );
  const longest = Math.max(0, ...written);
  if (longest > 0) return 1 + longest;
  const own = [...resources.entries.map((entry) => entry.uri), ...templates.entries.map((entry) => entry.uriTemplate)];
  return own.some((one) => rootOf(one) !== undefined && rootOf(one) === rootOf(uri)) ? 1 : 0;
}

/** The length of what a template writes out before its first expression; 0 if that is not even a scheme. */
function headOf(template: unknown): number {
  const [head = ''] = String(template).split('{');
  return SCHEME.test(head) ? head.length : 0;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const WEB = /^https?:\/\/[^/?#{]+/i;

/** What tells resources of one kind: the scheme, and the host on the web. */
function rootOf(uri: unknown): string | undefined {
  const text = String(uri);
  const [scheme] = SCHEME.exec(text) ?? [];
  if (!scheme || !/^https?:$/i.test(scheme)) return scheme?.toLowerCase();
  return WEB.exec(text)?.[0].toLowerCase();
}
