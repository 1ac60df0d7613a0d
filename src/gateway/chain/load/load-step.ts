// Loads a step from a user's TypeScript or JavaScript file.
import { existsSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Step, StepFunction } from '../../../kernel/step.ts';
import { badOption } from '../step-options.ts';
import { importFresh, describeImportError } from '../../../kernel/files/import-fresh.ts';

/** By name, because the package cannot import itself while it is built. */
const OURS: readonly string[] = ['mcp-parley', 'mcp-parley/middleware'];

/**
 * A step from a TypeScript or JavaScript file. `path` is absolute. The file and its imports by path are loaded again each time. It
 * exports the step; with options, a function that makes the step from them.
 *
 * @example
 * ```ts
 * import { fileURLToPath } from 'node:url';
 * import { createGateway } from 'mcp-parley';
 * import { loadStep } from 'mcp-parley/middleware';
 *
 * const path = fileURLToPath(new URL('rules/my-step.ts', import.meta.url));
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [await loadStep(path)] });
 * ```
 */
export async function loadStep(path: string, options?: JsonObject): Promise<Step> {
  return (await loadStepFile(path, options)).step;
}

interface LoadedStep {
  step: Step;
  /** Without options, a function of one parameter may be a step, or a factory that wants options; one without parameters is hardly a step. */
  mayWantOptions: boolean;
}

export async function loadStepFile(path: string, options?: JsonObject): Promise<LoadedStep> {
  if (!existsSync(path)) throw badOption(path, 'there is no such file');
  try {
    const [name, exported] = pickExport(await importFresh(path, OURS));
    if (options === undefined || isStepDespite(options, exported)) {
      const mayWantOptions = typeof exported === 'function' && exported.length < 2;
      return { step: toStep(path, name, exported), mayWantOptions };
    }
    if (typeof exported !== 'function') throw new Error('takes no options, because it does not export a function');
    const made = await (exported as (options: JsonObject) => unknown)(options);
    return { step: toStep(path, name, made), mayWantOptions: false };
  } catch (thrown) {
    throw badOption(path, describeImportError(thrown));
  }
}

/** `{}` are options for a function that makes a step, and none for a step, which has two parameters or is an object. */
function isStepDespite(options: JsonObject, exported: unknown): boolean {
  return Object.keys(options).length === 0 && (typeof exported !== 'function' || exported.length > 1);
}

/** The default export, or the only one that can be a step. */
function pickExport(module: unknown): [string, unknown] {
  const exported = isObject(module) ? module : {};
  if (exported.default !== undefined) return ['default', exported.default];
  const found = Object.entries(exported).filter(([, value]) => isStep(value) || typeof value === 'function');
  if (found.length > 1) {
    throw new Error(`exports ${found.map(([name]) => name).join(', ')}: make the step the default export`);
  }
  return found[0] ?? ['default', undefined];
}

function toStep(path: string, exportName: string, value: unknown): Step {
  if (isStep(value)) return value;
  if (typeof value !== 'function')
    throw new Error('does not export a step: a function (exchange, next), or { name, handle }');
  // The loader names an anonymous function `_default`.
  const ownName = [value.name, exportName].find((name) => !['', 'default', '_default'].includes(name));
  return { name: ownName ?? basename(path, extname(path)), handle: value as StepFunction };
}

function isStep(value: unknown): value is Step {
  if (!isObject(value) || typeof value.name !== 'string') return false;
  return [value.handle, value.onChange, value.onAsk].some((part) => typeof part === 'function');
}
