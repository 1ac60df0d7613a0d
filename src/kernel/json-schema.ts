// Checks values against JSON Schemas with ajv. To start fast, ajv is loaded and the schema compiled on the first check;
// only a schema with references is compiled at once, because external ones are refused. Nothing is fetched, and formats
// are not checked.
import type * as Draft07 from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import type * as Draft2020 from 'ajv/dist/2020.js';
import { BoundedMap } from './containers/bounded-map.ts';
import { GatewayError, messageOf } from './base/errors.ts';
import { checkAsWhole, toGuardedPattern } from './form/pattern.ts';
import { MISSING } from './message.ts';
import type { JsonObject } from './message.ts';

type Draft = 'draft-07' | 'draft-2020-12';

type Extent = 'first' | 'all';

/** What is wrong with a value: the part and the reason. */
export interface SchemaProblem {
  /** The dotted path; empty for the whole value. */
  path: string;
  error: string;
  /** A required part is missing. */
  missing: boolean;
}

export type SchemaVerdict = { value: unknown; problems?: undefined } | { problems: SchemaProblem[] };

export function checkWithJsonSchema(schema: JsonObject, option: string): (value: unknown) => SchemaVerdict {
  const draft = toDraft(schema, option);
  const compiled: Partial<Record<Extent, ValidateFunction>> = {};
  const validator = (extent: Extent) => (compiled[extent] ??= compile(schema, draft, extent));
  const text = JSON.stringify(schema);
  if (/"\$(?:ref|dynamicRef)":/.test(text)) refuseUnresolved(() => validator('first'), option);
  const check = (value: unknown): SchemaVerdict => {
    const first = validator('first');
    if (first(value)) return { value };
    return { problems: sorted(allErrors(value, first, validator)).map(toSchemaProblem) };
  };
  return /"pattern(?:Properties)?":/.test(text) ? (value) => checkAsWhole(() => check(value)) : check;
}

function toDraft(schema: JsonObject, option: string): Draft {
  const name = schema['$schema'];
  if (name === undefined || /^https?:\/\/json-schema\.org\/draft\/2020-12\//.test(String(name))) return 'draft-2020-12';
  if (/^https?:\/\/json-schema\.org\/draft-0[67]\//.test(String(name))) return 'draft-07';
  const reason = `$schema ${String(name)} is not supported; use 2020-12 or draft-07`;
  throw new GatewayError('BAD_OPTION', { option, reason });
}

const compilers = new Map<string, Pick<Draft07.Ajv, 'compile' | 'removeSchema'>>();

function compile(schema: JsonObject, draft: Draft, extent: Extent): ValidateFunction {
  const id = `${draft} ${extent}`;
  const compiler = compilers.get(id) ?? createCompiler(draft, extent);
  compilers.set(id, compiler);
  const validate = compiler.compile(schema);
  // ajv would keep it for ever, even after the definition is removed.
  compiler.removeSchema(schema);
  return validate;
}

function createCompiler(draft: Draft, extent: Extent) {
  const options: Options = {
    strict: false,
    allErrors: extent === 'all',
    ownProperties: true,
    validateSchema: false,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
    // A server's pattern may take years on its own answer.
    code: { regExp: Object.assign(toGuardedPattern, { code: 'guarded' }) },
  };
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  // In two steps: tsc 7.0.2 drops the parentheses of `new (require(…) as T).X()` and so changes its meaning.
  if (draft === 'draft-07') {
    const { Ajv } = require('ajv') as typeof Draft07;
    return new Ajv(options);
  }
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof Draft2020;
  return new Ajv2020(options);
}

function refuseUnresolved(compileNow: () => unknown, option: string): void {
  try {
    compileNow();
  } catch (thrown) {
    const reason = `cannot be compiled: ${messageOf(thrown)}`;
    throw new GatewayError('BAD_OPTION', { option, reason }, { cause: thrown });
  }
}

/**
 * Reports only the first error of a large value, because a million wrong items would create a million error objects.
 */
function allErrors(value: unknown, first: ValidateFunction, validator: (extent: Extent) => ValidateFunction) {
  if (!isSmall(value)) return first.errors ?? [];
  const all = validator('all');
  all(value);
  return all.errors ?? [];
}

function isSmall(value: unknown): boolean {
  const rest: unknown[] = [value];
  let seen = 0;
  while (rest.length > 0) {
    const node = rest.pop();
    if (++seen > 1000) return false;
    if (typeof node !== 'object' || node === null) continue;
    const children: unknown[] = Array.isArray(node) ? node : Object.values(node);
    if (children.length > 1000) return false;
    rest.push(...children);
  }
  return true;
}

/** Missing top-level parameters come first: the caller can add those without knowing more. */
function sorted(errors: ErrorObject[]): ErrorObject[] {
  const isMissing = (error: ErrorObject) => error.schemaPath === '#/required';
  return [...errors.filter(isMissing), ...errors.filter((error) => !isMissing(error))];
}

function toSchemaProblem(error: ErrorObject): SchemaProblem {
  const params = error.params as Record<string, unknown>;
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (error.keyword === 'required') return problem(error, MISSING, params['missingProperty']);
  if (extra !== undefined) return problem(error, 'Unknown parameter', extra);
  if (error.keyword === 'enum') return problem(error, `Must be one of ${JSON.stringify(params['allowedValues'])}`);
  return problem(error, capitalized(error.message ?? 'is not valid'));
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

const MAX_KEPT = 200;
const kept = new BoundedMap<string, (value: unknown) => SchemaVerdict>(MAX_KEPT);

/**
 * The check is kept by the schema's content, because the same schema is created for every question and compiling costs a thousand times a
 * check. `option` names the schema in errors.
 */
export function cachedSchemaCheck(schema: JsonObject, option: string): (value: unknown) => SchemaVerdict {
  return kept.getOrCreate(JSON.stringify(schema), () => checkWithJsonSchema(schema, option));
}

/** All problems in one sentence; long lists are shortened. */
export function toReason(problems: SchemaProblem[]): string {
  const words = problems.slice(0, 10).map(({ path, error }) => (path === '' ? error : `${path}: ${error}`));
  return [...words, ...(problems.length > 10 ? [`and ${problems.length - 10} more`] : [])].join('; ');
}
