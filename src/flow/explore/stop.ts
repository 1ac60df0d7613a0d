// Where and why a path through a body stopped early. Clients do not learn what comes after it, so the author should know.
import { relative } from 'node:path';

export interface Stop {
  why: 'consent' | 'person' | 'result' | 'wait' | 'rounds' | 'failed' | 'stalled';
  /** Key of the question, step, sleep or event. */
  key?: string | undefined;
  /** The author's line: path, line and column. */
  where?: string | undefined;
  /** The message of what the body threw. */
  error?: string | undefined;
}

const REASONS: Record<Stop['why'], (key: string) => string> = {
  consent: (key) => `at the question ${key}: consent is never made up`,
  person: (key) => `at the question ${key}: it is for another person`,
  result: (key) => `after the step ${key}: its result is looked at, and no step is run`,
  wait: (key) => `at ${key}: it waits, and time does not pass`,
  rounds: (key) => `at the question ${key}: it was asked too often`,
  failed: () => 'since the body threw',
  stalled: () => 'since the body waits for something other than a question or a step',
};

export function describeStop({ why, key = '', where, error }: Stop): string {
  const place = where === undefined ? '' : ` (${toShortPlace(where)})`;
  return `${REASONS[why](key)}${error === undefined ? '' : `: ${error}`}${place}`;
}

/** Removes duplicates. */
export function uniqueStops(stops: readonly Stop[]): Stop[] {
  return [...new Map(stops.map((stop) => [JSON.stringify(stop), stop])).values()];
}

function toShortPlace(where: string): string {
  const short = relative(process.cwd(), where);
  return short.startsWith('..') ? where : short;
}
