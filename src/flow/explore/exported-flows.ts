// Finds the flows that a module exports, under any name.
import { isObject } from '../../protocol/message.ts';
import type { AnyFlow } from '../define.ts';

export function findExportedFlows(module: unknown): AnyFlow[] {
  const exported = isObject(module) ? module : {};
  return [...new Set(Object.values(exported).flat())].filter(isFlow);
}

export function isFlow(value: unknown): value is AnyFlow {
  return isObject(value) && typeof value.name === 'string' && typeof value.body === 'function' && 'timeoutMs' in value;
}
