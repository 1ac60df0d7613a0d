// Finds revisions and eras in the list of them. No file outside eras/ may name a revision, or ask which era a peer speaks.
import type { Dialect, SpokenEra } from '../../kernel/era/era.ts';
import type { Revision } from './era.ts';
import { REVISIONS } from './list.ts';

const BY_NAME: ReadonlyMap<string, Revision> = new Map(REVISIONS.map((one) => [one.name, one]));

export const ALL_REVISIONS: readonly string[] = [...BY_NAME.keys()];

export const ERAS: readonly Dialect[] = [...new Set(REVISIONS.map(({ dialect }) => dialect))];

export function revisionNamed(name: string): Revision | undefined {
  return BY_NAME.get(name);
}

/** Whether clients of a revision that is in the list open a session. */
export function hasSessions(revision: string): boolean {
  return BY_NAME.get(revision)?.era.hasSession === true;
}

/** The only revision or era to use with a server. */
export interface OnlyRevision {
  revision?: string | undefined;
  era?: Dialect | undefined;
}

export function eraOf(revision: string): Dialect | undefined {
  return BY_NAME.get(revision)?.dialect;
}

/** An era with a single revision means that one; an era with several leaves its revision open. */
export function toOnlyRevision({ revision, era }: OnlyRevision): OnlyRevision {
  if (revision !== undefined) return { revision, era: eraOf(revision) };
  if (era === undefined) return {};
  const all = REVISIONS.filter(({ dialect }) => dialect === era);
  return all.length === 1 ? { revision: all[0]!.name, era } : { era };
}

/** How the only era is opened; undefined if any may be spoken. */
export function onlyEraOf(only: OnlyRevision): SpokenEra | undefined {
  const { era } = toOnlyRevision(only);
  return REVISIONS.find(({ dialect }) => dialect === era)?.era.spokenAs;
}

/** Which openings to try with a server, in their order: `discover` asks whether it speaks the era without sessions, `initialize` opens a session. */
export function openingsFor(
  only: OnlyRevision,
  prefer: SpokenEra = 'stateless',
): readonly ('discover' | 'initialize')[] {
  const era = onlyEraOf(only);
  if (era !== undefined) return era === 'stateless' ? ['discover'] : ['initialize'];
  return prefer === 'handshake' ? ['initialize', 'discover'] : ['discover', 'initialize'];
}

/** Compares names of eras or dialects. */
export function isSameEra(one: string, other: string | undefined): boolean {
  return one === other;
}

/** What a person calls the language of a peer. The version of the draft dialect is also the name of an MCP revision, so the dialect is shown. */
export function toSpokenRevision({ dialect, revision }: { dialect: string; revision: string }): string {
  return BY_NAME.has(dialect) ? dialect : revision;
}
