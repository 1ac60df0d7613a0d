// Explores the flows of a file in a sandboxed process: files, the network, other processes, timers and native code throw before they act,
// and Node itself allows no writes and no child processes. Consent is never made up.
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../shared/errors.ts';
import type { FlowStops, Report } from './child.ts';
import { forkSandbox } from './sandbox-process.ts';
import type { ExploredFlows } from './explored-file.ts';

export interface ExploreFileOptions {
  /** Default 30 s. */
  timeoutMs?: number | undefined;
}

/** Rejects with the position if the file or a flow uses a blocked API; nothing has happened then. */
export async function exploreFile(file: string | URL, options: ExploreFileOptions = {}): Promise<ExploredFlows> {
  return (await exploreToStops(file, options)).found;
}

/** Also returns where each flow stopped early. */
export async function exploreToStops(
  file: string | URL,
  { timeoutMs = 30_000 }: ExploreFileOptions = {},
): Promise<{ found: ExploredFlows; stops: FlowStops[] }> {
  const path = resolve(typeof file === 'string' ? file : fileURLToPath(file));
  const name = relative(process.cwd(), path);
  if (!existsSync(path)) throw new GatewayError('BAD_OPTION', { option: name, reason: 'there is no such file' });
  const report = await reportOn(path, timeoutMs);
  if ('found' in report) return report;
  if ('failed' in report) throw new GatewayError('BAD_OPTION', { option: name, reason: report.failed });
  const { what, where } = report.violation;
  throw new GatewayError('FLOW_REACHES_OUT', { file: name, what, where: where.replaceAll('file://', '') });
}

async function reportOn(path: string, timeoutMs: number): Promise<Report> {
  const { child, complaint } = forkSandbox('flow/explore/child.js', [path]);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Report>((done) => {
      child.once('message', (report) => done(report as Report));
      child.once('error', (error) => done({ failed: error.message }));
      child.once('close', () => done({ failed: `could not be explored: ${complaint()}` }));
      timer = setTimeout(() => done({ failed: `took longer than ${timeoutMs} ms to explore` }), timeoutMs);
    });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
