// What is wrong with a value: the part, as a dotted path, and the reason.
import type { ErrorObject } from 'ajv';
import { MISSING } from '../params.ts';

export interface SchemaProblem {
  /** The dotted path; empty for the whole value. */
  path: string;
  error: string;
  /** A required part is missing. */
  missing: boolean;
}

export type SchemaVerdict = { value: unknown; problems?: undefined } | { problems: SchemaProblem[] };

export function toSchemaProblem(error: ErrorObject): SchemaProblem {
  const params = error.params as Record<string, unknown>;
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (error.keyword === 'required') return problem(error, MISSING, params['missingProperty']);
  if (extra !== undefined) return problem(error, 'Unknown parameter', extra);
  if (error.keyword === 'enum') return problem(error, `Must be one of ${JSON.stringify(params['allowedValues'])}`);
  return problem(error, capitalized(error.message ?? 'is not valid'));
}

/** All problems in one sentence; long lists are shortened. */
export function toReason(problems: SchemaProblem[]): string {
  const words = problems.slice(0, 10).map(({ path, error }) => (path === '' ? error : `${path}: ${error}`));
  return [...words, ...(problems.length > 10 ? [`and ${problems.length - 10} more`] : [])].join('; ');
}

function problem(error: ErrorObject, words: string, key?: unknown): SchemaProblem {
  const keys = error.instancePath.split('/').slice(1).map(unescaped);
  const path = (key === undefined ? keys : [...keys, String(key)]).join('.');
  return { path, error: words, missing: error.keyword === 'required' };
}

/** RFC 6901 §4. */
function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

function capitalized(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
