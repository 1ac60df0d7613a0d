// The process that explores flows. It loads the file inside the sandbox, walks through its flows, and reports the findings or the violation
// to its parent.
import { describeImportError } from '../../gateway/middleware/load/import-fresh.ts';
import { explore } from './explore.ts';
import { toExploredFlows } from './explored-file.ts';
import type { ExploredFlows } from './explored-file.ts';
import type { Sandbox, SandboxViolation } from './sandbox.ts';
import { enterSandbox, loadInSandbox } from './load-in-sandbox.ts';
import type { Stop } from './stop.ts';

export type Report =
  | { found: ExploredFlows; stops: FlowStops[] }
  | { violation: SandboxViolation }
  | { failed: string };

export interface FlowStops {
  flow: string;
  stops: readonly Stop[];
}

const tell = (report: Report) => void send(report);
const send = process.send!.bind(process);
const [file = ''] = process.argv.slice(2);

// Ignores unhandled errors: a violation is reported anyway, and the rest is the author's concern.
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
tell(await report(await enterSandbox()));

async function report(sandbox: Sandbox): Promise<Report> {
  try {
    const flows = await loadInSandbox(file);
    if (sandbox.violation) return { violation: sandbox.violation };
    if (flows.length === 0) return { failed: 'exports no flow: make one with flow() of mcp-parley/flow and export it' };
    const found = [];
    for (const flow of flows) {
      found.push({ flow, explored: await explore(flow, { isOver: () => sandbox.violation !== undefined }) });
      if (sandbox.violation) return { violation: sandbox.violation };
    }
    const stops = found.map(({ flow, explored }) => ({ flow: flow.name, stops: explored.stops }));
    return { found: toExploredFlows(found), stops };
  } catch (thrown) {
    return sandbox.violation ? { violation: sandbox.violation } : { failed: describeImportError(thrown) };
  }
}
