// Explores the flows of a test as `parley explore` would, but in this process.
import type { AnyFlow, ExploredFlows } from 'mcp-parley/flow';
import { explore } from '../../src/flow/explore/explore.ts';
import { toExploredFlows } from '../../src/flow/explore/exploration.ts';

export async function exploredOf(...flows: AnyFlow[]): Promise<ExploredFlows> {
  return toExploredFlows(await Promise.all(flows.map(async (flow) => ({ flow, explored: await explore(flow) }))));
}
