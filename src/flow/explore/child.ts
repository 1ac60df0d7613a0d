// The process that explores flows. It loads the file inside the sandbox, walks through its flows, and reports the findings or the violation
// to its parent.
import { describeImportError } from '../../kernel/files/import-fresh.ts';
import { explore } from './explore.ts';
import { toExploredFlows } from './exploration.ts';
import type { ExploredFlows, Stop } from './exploration.ts';
import { enterSandbox, loadInSandbox, NO_FLOWS } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import type { SandboxFailure } from './sandbox-process.ts';

export interface ExploreReport {
  found: ExploredFlows;
  stops: { flow: string; stops: readonly Stop[] }[];
}

const send = process.send!.bind(process);
const [file = ''] = process.argv.slice(2);

// Ignores unhandled errors: a violation is reported anyway, and the rest is the author's concern.
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
send(await report(await enterSandbox()));

async function report(sandbox: Sandbox): Promise<ExploreReport | SandboxFailure> {
  try {
    const flows = await loadInSandbox(file);
    if (sandbox.violation) return { violation: sandbox.violation };
    if (flows.length === 0) return { failed: NO_FLOWS };
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
