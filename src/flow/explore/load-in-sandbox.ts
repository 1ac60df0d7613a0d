// Loads a file of flows inside the sandbox. What the loader needs is loaded first, then the sandbox closes.
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importFresh } from '../../gateway/middleware/load/import-fresh.ts';
import type { AnyFlow } from '../define.ts';
import { findExportedFlows } from '../define.ts';
import { createSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const OURS = ['mcp-parley', 'mcp-parley/flow'];

export async function enterSandbox(): Promise<Sandbox> {
  // Would otherwise be loaded at first use, inside the sandbox.
  await Promise.all([import('jiti'), ...OURS.map((name) => import(name) as Promise<unknown>)]);
  return createSandbox([dirname(createRequire(import.meta.url).resolve('jiti/package.json')) + sep]);
}

export async function loadInSandbox(file: string): Promise<AnyFlow[]> {
  return findExportedFlows(await load(file));
}

/** Loads the file as Node does, so that its source is the served one. Compiles what Node cannot load. */
async function load(file: string): Promise<unknown> {
  if (/\.[cm]?tsx?$/.test(file)) return importFresh(file, OURS);
  try {
    return await import(pathToFileURL(file).href);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    // The file is in a folder where this package is not installed.
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes("'mcp-parley'")) return importFresh(file, OURS);
    throw thrown;
  }
}
