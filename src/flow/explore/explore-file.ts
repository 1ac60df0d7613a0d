// Explores the flows of a file in a process of their own, in which no way out is open: files, the network, other processes, timers
// and native code throw before they act, and Node itself allows it no write and no child. Nobody's consent is made up there.
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../shared/errors.ts';
import type { Report } from './child.ts';
import type { ExploredFlows } from './explored-file.ts';

export interface ExploreFileOptions {
  /** Default 30 s. */
  timeoutMs?: number | undefined;
}

/** Rejects where the file or a flow of it reaches out by itself, and says where; nothing has happened then. */
export async function exploreFile(
  file: string | URL,
  { timeoutMs = 30_000 }: ExploreFileOptions = {},
): Promise<ExploredFlows> {
  const path = resolve(typeof file === 'string' ? file : fileURLToPath(file));
  const name = relative(process.cwd(), path);
  if (!existsSync(path)) throw new GatewayError('BAD_OPTION', { option: name, reason: 'there is no such file' });
  const report = await reportOn(path, timeoutMs);
  if ('found' in report) return report.found;
  if ('failed' in report) throw new GatewayError('BAD_OPTION', { option: name, reason: report.failed });
  const { what, where } = report.trespass;
  throw new GatewayError('FLOW_REACHES_OUT', { file: name, what, where: where.replaceAll('file://', '') });
}

async function reportOn(path: string, timeoutMs: number): Promise<Report> {
  const child = fork(toEntry(), [path], {
    execArgv: [...confined(), '--no-addons', '--no-warnings', '--max-old-space-size=512'],
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'json',
  });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)));
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Report>((done) => {
      child.once('message', (report) => done(report as Report));
      child.once('error', (error) => done({ failed: error.message }));
      child.once('close', () => done({ failed: `could not be explored: ${lastLine(complaint)}` }));
      timer = setTimeout(() => done({ failed: `took longer than ${timeoutMs} ms to explore` }), timeoutMs);
    });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

/** The built one: Node has to load it by itself. */
function toEntry(): string {
  const root = dirname(createRequire(import.meta.url).resolve('mcp-parley/package.json'));
  return join(root, 'dist/flow/explore/child.js');
}

/** Should a way out have been forgotten, most of them are closed by Node as well. */
function confined(): string[] {
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  return flag === undefined ? [] : [flag, '--allow-fs-read=*'];
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'its process ended';
}
