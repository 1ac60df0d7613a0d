// Reads the calls of an audit log: one file of it, or all files of its folder, oldest first.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { auditFolder } from '../../gateway/audit/audit-folder.ts';
import { readLine } from '../../gateway/audit/audit-lines.ts';
import type { PastCall } from '../../gateway/middleware/steps/rules/replay-rules.ts';
import type { RuleDecision } from '../../protocol/audit.ts';
import { ownStateFolder } from '../../shared/secrets/own-folders.ts';

export interface RecordedCall extends PastCall {
  decision: RuleDecision | undefined;
}

/** `skipped`: lines that are not calls, or name nothing. */
export function readPastCalls(log: string | undefined): { calls: RecordedCall[]; skipped: number } {
  const lines = filesOf(log ?? auditFolder(ownStateFolder())).flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  const calls: RecordedCall[] = [];
  let skipped = 0;
  for (const text of lines) {
    if (text === '') continue;
    const { kind, time, principal = '', server, method, name, decision, outcome, details } = readLine(text) ?? {};
    if (outcome === 'running') continue; // its end has a line, too
    const isCall = kind === 'call' && server !== undefined && method !== undefined && name !== undefined;
    const key = typeof details?.key === 'string' ? details.key : undefined;
    if (isCall) calls.push({ atMs: Date.parse(time!), principal, key, server, method, name, decision });
    else skipped++;
  }
  return { calls: calls.toSorted((one, other) => one.atMs - other.atMs), skipped };
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.jsonl'));
  return names.toSorted().map((name) => join(path, name));
}
