// Finds revisions and eras in the list of them. No file outside eras/ may name a revision, or ask which era a peer speaks.
import type { Dialect, SpokenEra } from '../../kernel/era/era.ts';
import type { Revision } from './era.ts';
import type { MethodRegistry } from './methods.ts';
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

/** The revisions without sessions, newest first. */
export const STATELESS_REVISIONS: readonly Revision[] = REVISIONS.filter(({ era }) => !era.hasSession).toReversed();

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** Version strings compare by date. */
const [FIRST_STATELESS = ''] = STATELESS_REVISIONS.map(({ name }) => name).toSorted();

/** Whether a revision has no sessions. One that nobody knows yet is taken for a later one of that era, which tells its client what is supported. */
export function isStateless(revision: string): boolean {
  return BY_NAME.has(revision) ? !hasSessions(revision) : DATE.test(revision) && revision > FIRST_STATELESS;
}

/** What some revision has. Any other method is an extension. */
const ALL_METHODS: ReadonlySet<string> = new Set(REVISIONS.flatMap(({ methods }) => [...methods]));

/** What clients of a revision may send. A revision that is not in the list has them all. */
export function methodsOf(revision: string): MethodRegistry {
  return BY_NAME.get(revision)?.methods ?? ALL_METHODS;
}

/** Whether a method belongs to the protocol, but not to the revision with this registry. */
export function isMissing(method: string, methods: MethodRegistry): boolean {
  return !methods.has(method) && ALL_METHODS.has(method);
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
