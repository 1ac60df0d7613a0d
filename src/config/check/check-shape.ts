// Checks a value against a shape. Reports all differences and returns what matches, with text from variables converted to numbers and
// flags. Null counts as absent, as YAML reads an empty value as null.
import { toPathId } from './config-problems.ts';
import type { ConfigPath, ConfigProblems } from './config-problems.ts';
import { isObject } from '../../kernel/message.ts';
import type { Shape } from '../../kernel/config/shape.ts';
import { didYouMean } from '../../kernel/text/suggest.ts';

export interface CheckContext {
  problems: ConfigProblems;
  /** Paths of text that came from variables; it may be a secret and is not repeated in problems. */
  filled: ReadonlySet<string>;
  /** Paths of text with unset variables, which have been reported. */
  missing: ReadonlySet<string>;
  /** How to report unknown keys; in another program's file they are only warnings. */
  unknownKeys: 'error' | 'warning';
}

export function checkShape(value: unknown, shape: Shape, path: ConfigPath, context: CheckContext): unknown {
  switch (shape.kind) {
    case 'anything':
      return value;
    case 'foreign':
      if (shape.note !== undefined) context.problems.warn(path, 'this key has no effect here', shape.note);
      return undefined;
    case 'either':
      return checkEither(value, shape.of, path, context);
    case 'object':
    case 'record':
      return isObject(value) ? checkEntries(value, shape, path, context) : refuse(value, shape, path, context);
    case 'list':
      if (!Array.isArray(value)) return refuse(value, shape, path, context);
      return value.map((item, index) => checkShape(item, shape.of, [...path, index], context));
    case 'text':
    case 'integer':
    case 'flag':
    case 'choice':
    case 'plain':
      return checkScalar(value, shape, path, context);
  }
}

/** A single word that may not stand alone belongs in the list. */
function checkEither(value: unknown, shapes: readonly Shape[], path: ConfigPath, context: CheckContext): unknown {
  const picked = pick(value, shapes);
  const isWord = picked.kind === 'choice' && typeof value === 'string' && !context.filled.has(toPathId(path));
  const takesList = shapes.some((shape) => shape.kind === 'list' && shape.of.kind === 'text');
  if (!isWord || !takesList || picked.values.includes(value)) return checkShape(value, picked, path, context);
  context.problems.error(path, `"${value}" must stand in a list`, `Write ["${value}"].`);
  return undefined;
}

type Entries = Extract<Shape, { kind: 'object' | 'record' }>;
type Scalar = Extract<Shape, { kind: 'text' | 'integer' | 'flag' | 'choice' | 'plain' }>;

function checkEntries(value: object, shape: Entries, path: ConfigPath, context: CheckContext): object {
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    const known = shape.kind === 'record' ? shape.of : lookUp(shape.keys, key);
    if (known === undefined) refuseKey(at, shape, context);
    else if (inner !== null || known.kind === 'anything') entries.push([key, checkShape(inner, known, at, context)]);
  }
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
}

function lookUp(keys: Readonly<Record<string, Shape>>, key: string): Shape | undefined {
  return Object.hasOwn(keys, key) ? keys[key] : undefined;
}

/**
 * At the top level, `x-…` is free for the author (a place for YAML anchors), and so are unknown keys of another program, unless they look
 * like one of ours: `"rulez"` in any file would leave everything unguarded.
 */
function refuseKey(path: ConfigPath, shape: Entries, { problems, unknownKeys }: CheckContext): void {
  const key = String(path.at(-1));
  const isTop = path.length === 1;
  const known = shape.kind === 'object' ? Object.entries(shape.keys) : [];
  const hint = didYouMean(
    key,
    known.filter(([, { kind }]) => kind !== 'foreign').map(([name]) => name),
  );
  // Rules for tools are Parley's own in every file; a misspelled rule must not leave a tool unguarded.
  const isRule = path.at(-2) === 'tools';
  const isMistyped = hint.startsWith('Did you mean');
  const isForeign = unknownKeys === 'warning' && !isRule && !isMistyped;
  if (isTop && (key.startsWith('x-') || isForeign)) return;
  problems.ofKey(path, {
    message: 'unknown key',
    hint: isForeign ? 'It is ignored.' : hint,
    level: isRule || (isTop && isSlip(key, hint)) ? 'error' : unknownKeys,
  });
}

/** The key of another program may be longer: `log_dir` of Codex. */
function isSlip(key: string, hint: string): boolean {
  const [, meant] = /^Did you mean "(.*)"/.exec(hint) ?? [];
  return meant !== undefined && Math.abs(meant.length - key.length) <= 1;
}

function checkScalar(value: unknown, shape: Scalar, path: ConfigPath, context: CheckContext): unknown {
  const given = context.filled.has(toPathId(path)) ? fromText(value, shape) : value;
  if (fits(given, shape)) return shape.kind === 'plain' ? String(given) : given;
  return refuse(value, shape, path, context);
}

/** A variable always holds text. */
function fromText(value: unknown, shape: Scalar): unknown {
  if (shape.kind === 'integer' && /^\d{1,15}$/.test(String(value))) return Number(value);
  if (shape.kind === 'flag' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function fits(value: unknown, shape: Scalar): boolean {
  switch (shape.kind) {
    case 'text':
      if (typeof value !== 'string' || (shape.notEmpty && value.trim() === '')) return false;
      return shape.pattern === undefined || new RegExp(shape.pattern).test(value);
    case 'plain':
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    case 'flag':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= shape.min && (value as number) <= shape.max;
    case 'choice':
      return typeof value === 'string' && shape.values.includes(value);
  }
}

function refuse(
  value: unknown,
  shape: Shape,
  path: ConfigPath,
  { problems, filled, missing }: CheckContext,
): undefined {
  if (missing.has(toPathId(path))) return;
  const isWord = shape.kind === 'choice' && typeof value === 'string' && !filled.has(toPathId(path));
  if (isWord) problems.error(path, `"${value}" is not known here`, didYouMean(value, [...shape.values]));
  else problems.error(path, `must be ${wanted(shape)}, not ${kindOf(value, shape)}`, shape.about);
}

/** Text in place of a number may come from a variable. */
function pick(value: unknown, shapes: readonly Shape[]): Shape {
  const same = shapes.find((shape) => jsonTypeOf(shape) === typeOf(value));
  const number = typeof value === 'string' ? shapes.find(({ kind }) => kind === 'integer') : undefined;
  return same ?? number ?? shapes[0]!;
}

function jsonTypeOf({ kind }: Shape): string {
  if (kind === 'integer') return 'number';
  if (kind === 'flag') return 'boolean';
  if (kind === 'list') return 'list';
  return kind === 'object' || kind === 'record' ? 'object' : 'string';
}

function wanted(shape: Shape): string {
  switch (shape.kind) {
    case 'integer':
      return shape.max === Number.MAX_SAFE_INTEGER
        ? `a whole number of at least ${shape.min}`
        : `a whole number from ${shape.min} to ${shape.max}`;
    case 'flag':
      return 'true or false';
    case 'choice':
      return `one of ${shape.values.join(', ')}`;
    case 'list':
      return 'a list';
    case 'object':
    case 'record':
      return 'an object';
    case 'text':
      return shape.like ?? 'text';
    default:
      return 'text';
  }
}

/** Does not repeat the value: a number in place of text may be a password. */
function kindOf(value: unknown, { kind }: Shape): string {
  if (typeof value === 'string') return value.trim() === '' ? 'empty' : 'this text';
  if (typeof value === 'number') return kind === 'integer' ? String(value) : 'a number';
  if (typeof value === 'boolean') return String(value);
  return value === null ? 'nothing' : Array.isArray(value) ? 'a list' : 'an object';
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
