// What is wrong with a value: which part of it, by dotted path, and why, in our words.
import type { ErrorObject } from 'ajv';
import { MISSING } from '../params.ts';

export interface SchemaProblem {
  /** Dotted, empty for the value as a whole. */
  path: string;
  error: string;
  /** Something required is not there. */
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

/** One sentence with all problems; long lists are cut. */
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
