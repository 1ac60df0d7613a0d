// Loads a flow from a user's file: the named one, the default export, or the only one.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AnyFlow } from '../../../flow/define.ts';
import { findExportedFlows, isFlow } from '../../../flow/define.ts';
import { importFresh, describeImportError } from '../../../gateway/middleware/load/import-fresh.ts';
import { isObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';

const OURS = ['mcp-parley', 'mcp-parley/flow'];

export async function loadFlow(file: string, name?: string): Promise<AnyFlow> {
  const bad = (reason: string) => new GatewayError('BAD_OPTION', { option: file, reason });
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`${file} is not there. Check the path.`);
  const module = await importFresh(path, OURS).catch((thrown: unknown) => {
    throw bad(describeImportError(thrown));
  });
  const exported = isObject(module) ? module : {};
  const flows = findExportedFlows(exported);
  if (name !== undefined) {
    const found = flows.find((flow) => flow.name === name);
    if (!found) throw bad(`has no flow ${name}${flows.length > 0 ? `; it has ${namesOf(flows)}` : ''}`);
    return found;
  }
  if (isFlow(exported.default)) return exported.default;
  if (flows.length === 0) throw bad('exports no flow: make one with flow() of mcp-parley/flow and export it');
  if (flows.length > 1) throw bad(`has several flows: name one of ${namesOf(flows)} with --flow`);
  return flows[0]!;
}

function namesOf(flows: AnyFlow[]): string {
  return flows.map(({ name }) => name).join(', ');
}
