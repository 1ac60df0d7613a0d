// Lets the conformance suite start on Node 20. It imports `globSync` from `fs` at its top, which only Node 22 has, and a
// missing name in a static import is fatal. A builtin cannot be given a new export, so the suite's own import of `fs` is
// led to a wrapper that has it; everybody else still gets the real module. Use: node --import ./supply-glob-sync.mjs …
import * as fs from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const WRAPPER = 'supplied:fs';
const SUITE = '/@modelcontextprotocol/conformance/dist/index.js';

// The suite calls it in one report command, which we never run, and only for "**/<file name>".
const SOURCE = `
  import { readdirSync } from 'node:fs';
  import { basename } from 'node:path';
  export * from 'node:fs';
  export function globSync(pattern, { cwd = '.' } = {}) {
    if (!pattern.startsWith('**/') || /[*?{[]/.test(pattern.slice(3))) throw new Error('No stand-in for ' + pattern);
    return readdirSync(cwd, { recursive: true }).filter((path) => basename(path) === pattern.slice(3));
  }`;

// Hooks run in a thread of their own, which loads this same file: only the first load registers.
if (isMainThread && !('globSync' in fs)) register(import.meta.url);

export function resolve(specifier, context, next) {
  const wanted = (specifier === 'fs' || specifier === 'node:fs') && context.parentURL?.endsWith(SUITE);
  return wanted ? { url: WRAPPER, shortCircuit: true } : next(specifier, context);
}

export function load(url, context, next) {
  return url === WRAPPER ? { format: 'module', source: SOURCE, shortCircuit: true } : next(url, context);
}
