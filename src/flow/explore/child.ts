// The process in which flows are explored. It loads the file, at whose module scope no way out is open any more, walks through its
// flows, and tells the process that started it what was found, or what was in the way.
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importAnew, whyNotImported } from '../../gateway/middleware/import-anew.ts';
import { explore } from './explore.ts';
import { toExploredFlows } from './explored-file.ts';
import type { ExploredFlows } from './explored-file.ts';
import { flowsOf } from './flows-of.ts';
import { closeWaysOut } from './guard.ts';
import type { Guard, Trespass } from './guard.ts';

export type Report = { found: ExploredFlows } | { trespass: Trespass } | { failed: string };

const OURS = ['mcp-parley', 'mcp-parley/flow'];

const tell = (report: Report) => void send(report);
const send = process.send!.bind(process);
const [file = ''] = process.argv.slice(2);

// Whatever is thrown where nobody waits for it: if it was a trespass, that is told; the rest is the author's.
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
await loadLate();
const guard = closeWaysOut([dirname(createRequire(import.meta.url).resolve('jiti/package.json')) + sep]);
tell(await report(guard));

/** What would be loaded when it is first needed. */
async function loadLate(): Promise<void> {
  await Promise.all([import('jiti'), ...OURS.map((name) => import(name) as Promise<unknown>)]);
}

async function report(guarded: Guard): Promise<Report> {
  try {
    const flows = flowsOf(await load());
    if (guarded.trespass) return { trespass: guarded.trespass };
    if (flows.length === 0) return { failed: 'exports no flow: make one with flow() of mcp-parley/flow and export it' };
    const found = [];
    for (const flow of flows) {
      found.push({ flow, explored: await explore(flow, { isOver: () => guarded.trespass !== undefined }) });
      if (guarded.trespass) return { trespass: guarded.trespass };
    }
    return { found: toExploredFlows(found) };
  } catch (thrown) {
    return guarded.trespass ? { trespass: guarded.trespass } : { failed: whyNotImported(thrown) };
  }
}

/** As Node loads it, so that its source is the one that is served. What Node cannot load is compiled. */
async function load(): Promise<unknown> {
  if (/\.[cm]?tsx?$/.test(file)) return importAnew(file, OURS);
  try {
    return await import(pathToFileURL(file).href);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    // A file that lies where this package is not installed.
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes("'mcp-parley'")) return importAnew(file, OURS);
    throw thrown;
  }
}
