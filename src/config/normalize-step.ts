// Normalizes a step: "log", { "filter": { "deny": ["*"] } }, "./rules/mine.ts" or { "./rules/mine.ts": { … } }. The result has options,
// perhaps empty, and the absolute path of a file. A file without options stays text, since `{}` are options, too: a function then makes the step.
import { resolve } from 'node:path';

/** The option that a step takes as a bare value: { "timeout": 30000 }. */
const MAIN_OPTION = new Map([
  ['discover', 'mode'],
  ['prefix', 'prefix'],
  ['timeout', 'ms'],
]);

export type StepConfig = string | Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function normalizeStep(written: string | Record<string, unknown>, folder: string): StepConfig {
  const { name, options } = splitStep(written);
  if (!isStepFile(name)) return { [name]: { ...options } };
  const path = resolve(folder, name);
  return hasOptions(written) ? { [path]: { ...options } } : path;
}

/** YAML reads `- timeout:` as null. */
export function splitStep(written: string | Record<string, unknown>): {
  name: string;
  options: Record<string, unknown>;
} {
  const [[name, options] = ['', {}]] = typeof written === 'string' ? [[written, {}]] : Object.entries(written);
  const sole = MAIN_OPTION.get(name);
  const isSole = sole !== undefined && (typeof options === 'string' || typeof options === 'number');
  return { name, options: isSole ? { [sole]: options } : ((options ?? {}) as Record<string, unknown>) };
}

/** YAML reads `- ./file.mjs:` as null: there are no options. */
export function hasOptions(written: string | Record<string, unknown>): boolean {
  return typeof written !== 'string' && Object.values(written)[0] != null;
}

/** Whether the name is a path, not a built-in step. */
export function isStepFile(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}
