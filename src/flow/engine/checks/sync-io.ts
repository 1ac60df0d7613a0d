// Detects synchronous I/O of a body, such as `fs.readFileSync` and `execSync`. Async hooks do not report it, so these functions are replaced
// once per process. In a body they throw before they act; elsewhere they work as before. Loading a module and console.log are allowed.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { findAuthorFrame, captureStack } from '../tracer.ts';
import { currentBody } from '../environment/window.ts';

const ALLOWED = ['node:internal/modules', 'node:internal/console'];

let installed = false;

export function installSyncChecks(): void {
  if (installed) return;
  installed = true;
  for (const [module, name] of [
    [fs, 'fs'],
    [childProcess, 'child_process'],
  ] as const) {
    for (const key of Object.keys(module)) if (key.endsWith('Sync')) replace(module, key, `${name}.${key}`);
  }
  syncBuiltinESMExports();
}

function replace(module: object, key: string, what: string): void {
  const original: unknown = Reflect.get(module, key);
  if (typeof original !== 'function') return; // not on this platform
  const checked = function (this: unknown, ...given: unknown[]): unknown {
    refuse(what);
    return Reflect.apply(original, this, given);
  };
  // Keep properties such as `realpathSync.native`.
  Object.defineProperties(checked, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(module, key, { ...Object.getOwnPropertyDescriptor(module, key), value: checked });
}

function refuse(what: string): void {
  const body = currentBody();
  if (!body?.onUnjournaled) return;
  const frames = captureStack();
  if (frames.some((frame) => ALLOWED.some((allowed) => frame.includes(allowed)))) return;
  const isRefused = body.onUnjournaled({ what, where: findAuthorFrame(frames) });
  if (isRefused) throw new Error(`${what} outside of a step`);
}
