// Flows of a test as if `parley explore` had been run on its file. They are explored in this process: the test knows what they do.
import type { AnyFlow, ExploredFlows } from 'mcp-parley/flow';
import { explore } from '../../src/flow/explore/explore.ts';
import { toExploredFlows } from '../../src/flow/explore/explored-file.ts';

export async function exploredOf(...flows: AnyFlow[]): Promise<ExploredFlows> {
  return toExploredFlows(await Promise.all(flows.map(async (flow) => ({ flow, explored: await explore(flow) }))));
}
