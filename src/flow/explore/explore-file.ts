// Explores the flows of a file in a sandboxed process. Consent is never made up.
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { ExploreReport } from './child.ts';
import type { ExploredFlows } from './exploration.ts';
import { SandboxProcess } from './sandbox-process.ts';

interface ExploreFileOptions {
  /** Default 30 s. */
  timeoutMs?: number | undefined;
}

/**
 * Finds the questions of the flows in a file, in a process that can reach nothing. Rejects with the position if the file or a flow
 * uses a blocked API; nothing has happened then.
 *
 * @example
 * ```ts
 * import { exploreFile } from 'mcp-parley/flow';
 *
 * const explored = await exploreFile(new URL('trip.js', import.meta.url)); // for the option `explored` of serveFlows
 * console.log(JSON.stringify(explored));
 * ```
 */
export async function exploreFile(file: string | URL, options: ExploreFileOptions = {}): Promise<ExploredFlows> {
  return (await exploreToStops(file, options)).found;
}

/** Also returns where each flow stopped early. */
export async function exploreToStops(
  file: string | URL,
  { timeoutMs = 30_000 }: ExploreFileOptions = {},
): Promise<ExploreReport> {
  const path = resolve(typeof file === 'string' ? file : fileURLToPath(file));
  if (!existsSync(path)) {
    throw new GatewayError('BAD_OPTION', { option: relative(process.cwd(), path), reason: 'there is no such file' });
  }
  const sandboxed = new SandboxProcess('flow/explore/child.js', path);
  try {
    const words = { ended: 'could not be explored', late: `took longer than ${timeoutMs} ms to explore` };
    return (await sandboxed.report(timeoutMs, words)) as ExploreReport;
  } finally {
    sandboxed.kill();
  }
}
