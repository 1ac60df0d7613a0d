// The revisions of MCP and the features of each handshake revision. No file outside eras/ may name a revision.

export const STATELESS = '2026-07-28';
export const NEWEST_HANDSHAKE = '2025-11-25';
/** The last revision whose forms lack option titles, multiple choice and URLs. */
export const PLAIN_FORMS = '2025-06-18';
/**
 * A draft between 2025-06-18 and 2025-11-25: accepted from clients that ask for it, never offered. Behaves as
 * 2025-06-18.
 */
const ECHOED_DRAFT = 'DRAFT-2025-v3';
/** The `draft` dialect in lists of revisions, and the only `mcpVersion` of that dialect. */
export const DRAFT = 'draft';
export const DRAFT_VERSION = '2025-06-18';

export interface Features {
  /** Batches: arrays of messages. */
  batches: boolean;
  /** The error codes of the mcp-chain reference. */
  chainCodes: boolean;
  /** Completion values may be objects with a description. */
  completionObjects: boolean;
  completionsFlag: boolean;
  progressMessage: boolean;
  audio: boolean;
  toolAnnotations: boolean;
  /** Titles, structured output, resource links. */
  structured: boolean;
  elicitation: boolean;
  /** Forms with option titles, multiple choice and defaults of every type. */
  choiceForms: boolean;
  urlElicitation: boolean;
  samplingTools: boolean;
  tasks: boolean;
  /** Icons, and a description and website of the server. */
  icons: boolean;
  /** A stream begins with an event, so that its client can resume it. */
  primedStreams: boolean;
  /** Wrong arguments of a tool are told to the model in a result. */
  argumentErrorsInResults: boolean;
}

const oldest: Features = {
  batches: true,
  chainCodes: false,
  completionObjects: true,
  completionsFlag: false,
  progressMessage: false,
  audio: false,
  toolAnnotations: false,
  structured: false,
  elicitation: false,
  choiceForms: false,
  urlElicitation: false,
  samplingTools: false,
  tasks: false,
  icons: false,
  primedStreams: false,
  argumentErrorsInResults: false,
};
const march: Features = {
  ...oldest,
  chainCodes: true,
  completionObjects: false,
  completionsFlag: true,
  progressMessage: true,
  audio: true,
  toolAnnotations: true,
};
const june: Features = { ...march, batches: false, chainCodes: false, structured: true, elicitation: true };
const november: Features = {
  ...june,
  choiceForms: true,
  urlElicitation: true,
  samplingTools: true,
  tasks: true,
  icons: true,
  primedStreams: true,
  argumentErrorsInResults: true,
};

const HANDSHAKE = new Map<string, Features>([
  ['2024-11-05', oldest],
  ['2025-03-26', march],
  ['2025-06-18', june],
  [ECHOED_DRAFT, june],
  [NEWEST_HANDSHAKE, november],
]);

export const ALL_REVISIONS: readonly string[] = [...HANDSHAKE.keys(), STATELESS, DRAFT];

export function featuresOf(revision: string): Features {
  return HANDSHAKE.get(revision) ?? november;
}

export function isHandshake(revision: string): boolean {
  return HANDSHAKE.has(revision);
}

/** Version strings compare by date; a name that is not a date is never stateless. */
export function isStateless(revision: string): boolean {
  return revision === STATELESS || (/^\d{4}-\d{2}-\d{2}$/.test(revision) && revision > STATELESS);
}

/** The revision to answer with: the offered one if supported, else the newest dated handshake revision that is. */
export function negotiateRevision(offered: string, spoken: readonly string[]): string | undefined {
  if (isHandshake(offered) && spoken.includes(offered)) return offered;
  return spoken
    .filter((revision) => isHandshake(revision) && revision !== ECHOED_DRAFT)
    .toSorted()
    .at(-1);
}

export const ERAS = ['handshake', 'stateless', 'draft'] as const;
export type Era = (typeof ERAS)[number];

/** The eras that a server can support at once; the draft dialect also opens with a handshake. */
export type SpokenEra = 'handshake' | 'stateless';

export function spokenEraOf(dialect: Era): SpokenEra {
  return dialect === 'stateless' ? 'stateless' : 'handshake';
}

/** The only revision or era to use with a server. */
export interface OnlyRevision {
  revision?: string | undefined;
  era?: Era | undefined;
}

export function eraOf(revision: string): Era {
  if (revision === DRAFT) return 'draft';
  return isHandshake(revision) ? 'handshake' : 'stateless';
}

/** An era with a single revision means that one; the handshake era leaves its revision open. */
export function toOnlyRevision({ revision, era }: OnlyRevision): OnlyRevision {
  if (revision !== undefined) return { revision, era: eraOf(revision) };
  if (era === 'stateless') return { revision: STATELESS, era };
  return era === 'draft' ? { revision: DRAFT, era } : { era };
}

/** Which openings to try with a server. */
export function openingsFor(only: OnlyRevision): { discover: boolean; initialize: boolean } {
  const { era } = toOnlyRevision(only);
  if (era === undefined) return { discover: true, initialize: true };
  return { discover: era === 'stateless', initialize: era !== 'stateless' };
}
