// How a step is written: "log", { "filter": { "deny": ["*"] } }, "./rules/mine.ts", or { "./rules/mine.ts": { … } }. Its normal
// form has the options, if only empty ones, and the whole path of a file.
import { resolve } from 'node:path';

/** Of the steps that take it by itself: { "timeout": 30000 }. */
const MAIN_OPTION = new Map([
  ['prefix', 'prefix'],
  ['timeout', 'ms'],
]);

export type StepConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function normalizeStep(written: string | Record<string, unknown>, folder: string): StepConfig {
  const { name, options } = splitStep(written);
  return { [isStepFile(name) ? resolve(folder, name) : name]: { ...options } };
}

/** YAML makes null of `- timeout:`. */
export function splitStep(written: string | Record<string, unknown>): {
  name: string;
  options: Record<string, unknown>;
} {
  const [[name, options] = ['', {}]] = typeof written === 'string' ? [[written, {}]] : Object.entries(written);
  const sole = MAIN_OPTION.get(name);
  const isSole = sole !== undefined && (typeof options === 'string' || typeof options === 'number');
  return { name, options: isSole ? { [sole]: options } : ((options ?? {}) as Record<string, unknown>) };
}

/** A path, not the name of a built-in. */
export function isStepFile(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}
