// A step from a user's file, `.ts` or JavaScript. The loader is imported only when a step is loaded. `mcp-parley` in the file is
// this very package, installed beside it or not: errors and outcomes made there are ours.
import { basename, extname } from 'node:path';
import { isObject } from '../../protocol/message.ts';
import type { Step } from '../../protocol/step.ts';
import { badOption } from './step-options.ts';

/** By name, since the package is not part of itself while it is built. */
const OURS: readonly string[] = ['mcp-parley', 'mcp-parley/middleware'];

/** `path` is absolute. Everything it imports by path is loaded anew each time. */
export async function loadStep(path: string): Promise<Step> {
  let exported: unknown;
  try {
    exported = await importAnew(path);
  } catch (thrown) {
    throw badOption(path, thrown instanceof Error ? thrown.message : String(thrown));
  }
  return pickStep(path, isObject(exported) ? exported : {});
}

async function importAnew(path: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const ours = await Promise.all(OURS.map(async (name) => [name, await import(name)] as const));
  // Without its caches, which would keep former versions.
  const jiti = createJiti(path, { moduleCache: false, fsCache: false, virtualModules: Object.fromEntries(ours) });
  return jiti.import(path);
}

/** The default export, or the only one that is a step. */
function pickStep(path: string, exported: object): Step {
  const found = Object.entries(exported).filter(([, value]) => isStep(value) || typeof value === 'function');
  const [chosen, ...others] = found.toSorted(
    ([one], [other]) => Number(other === 'default') - Number(one === 'default'),
  );
  if (!chosen) throw badOption(path, 'exports no step: a function (exchange, next), or { name, handle }');
  if (others.length > 0 && chosen[0] !== 'default') {
    throw badOption(path, `exports ${found.map(([name]) => name).join(', ')}; make the step the default export`);
  }
  const [exportName, step] = chosen as [string, Step | NonNullable<Step['handle']>];
  if (typeof step !== 'function') return step;
  const ownName = [step.name, exportName].find((name) => name !== '' && name !== 'default');
  return { name: ownName ?? basename(path, extname(path)), handle: step };
}

function isStep(value: unknown): value is Step {
  if (!isObject(value) || typeof value.name !== 'string') return false;
  return typeof value.handle === 'function' || typeof value.onChange === 'function';
}
