// What the revisions of the handshake era can encode. A revision that only adds or drops fields is a row here.
export const NEWEST_HANDSHAKE = '2025-11-25';
/** The last revision whose forms lack option titles, multiple choice and URLs. */
export const PLAIN_FORMS = '2025-06-18';
/**
 * A draft between 2025-06-18 and 2025-11-25: accepted from clients that ask for it, never offered. Behaves as
 * 2025-06-18.
 */
const ECHOED_DRAFT = 'DRAFT-2025-v3';

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

export const HANDSHAKE_FEATURES: ReadonlyMap<string, Features> = new Map([
  ['2024-11-05', oldest],
  ['2025-03-26', march],
  ['2025-06-18', june],
  [ECHOED_DRAFT, june],
  [NEWEST_HANDSHAKE, november],
]);

export function featuresOf(revision: string): Features {
  return HANDSHAKE_FEATURES.get(revision) ?? november;
}

export function isHandshake(revision: string): boolean {
  return HANDSHAKE_FEATURES.has(revision);
}

/** The revision to answer with: the offered one if supported, else the newest dated handshake revision that is. */
export function negotiateRevision(offered: string, spoken: readonly string[]): string | undefined {
  if (isHandshake(offered) && spoken.includes(offered)) return offered;
  return spoken
    .filter((revision) => isHandshake(revision) && revision !== ECHOED_DRAFT)
    .toSorted()
    .at(-1);
}
