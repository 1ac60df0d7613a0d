// Where one way through a body ended before its end, and why: what comes after it is not known to clients, so its author should be.
import { relative } from 'node:path';

export interface Stop {
  why: 'consent' | 'person' | 'result' | 'wait' | 'rounds' | 'failed' | 'stalled';
  /** Of the question, the step, the sleep or the event. */
  key?: string | undefined;
  /** The author's line: path, line and column. */
  where?: string | undefined;
  /** What the body has thrown. */
  error?: string | undefined;
}

const REASONS: Record<Stop['why'], (key: string) => string> = {
  consent: (key) => `at the question ${key}: nobody's consent is made up`,
  person: (key) => `at the question ${key}: it is for another person`,
  result: (key) => `after the step ${key}: its result is looked at, and no step is run`,
  wait: (key) => `at ${key}: it is waited for, and no time passes`,
  rounds: (key) => `at the question ${key}: it was asked too often`,
  failed: () => 'since the body threw',
  stalled: () => 'since the body waits for something else than a question or a step',
};

export function describeStop({ why, key = '', where, error }: Stop): string {
  const place = where === undefined ? '' : ` (${toShortPlace(where)})`;
  return `${REASONS[why](key)}${error === undefined ? '' : `: ${error}`}${place}`;
}

/** Each once. */
export function uniqueStops(stops: readonly Stop[]): Stop[] {
  return [...new Map(stops.map((stop) => [JSON.stringify(stop), stop])).values()];
}

function toShortPlace(where: string): string {
  const short = relative(process.cwd(), where);
  return short.startsWith('..') ? where : short;
}
