// One error of ajv in our words: which parameter, by dotted path, and what is wrong with it.
import type { ErrorObject } from 'ajv';
import { MISSING } from '../protocol/params.ts';
import type { Problem } from './schema.ts';

export function toProblem(error: ErrorObject): Problem {
  const params = error.params as Record<string, unknown>;
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (error.keyword === 'required') return problem(error, MISSING, params['missingProperty']);
  if (extra !== undefined) return problem(error, 'Unknown parameter', extra);
  if (error.keyword === 'enum') return problem(error, `Must be one of ${JSON.stringify(params['allowedValues'])}`);
  return problem(error, capitalized(error.message ?? 'is not valid'));
}

function problem(error: ErrorObject, words: string, key?: unknown): Problem {
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
