// `parley policy test`: replays the audit log against the rules of a configuration and shows what would change.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readLine } from '../audit/audit-lines.ts';
import { createReplay } from './replay-rules.ts';
import type { PastCall, ReplayedCall } from './replay-rules.ts';
import type { RuleOptions } from './rule.ts';
import type { RuleDecision } from '../../../kernel/audit.ts';
import { isAnonymous } from '../../../kernel/base/anonymous.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { ownAuditFolder } from '../audit/own-audit.ts';
import type { CommandTools } from '../../../kernel/command/command-tools.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';

/** Calls with the same answer are counted together. */
interface Verdict {
  principal: string;
  server: string;
  name: string;
  before: string;
  /** One effect, or several if it cannot be told. */
  after: string[];
  /** What is not in the log and decides. */
  unknown: string[];
  calls: number;
}

/** Calls of the audit log. */
interface RecordedCall extends PastCall {
  decision: RuleDecision | undefined;
}

interface PolicyCommand {
  config: string | undefined;
  log: string | undefined;
  json: boolean;
}

export async function runPolicy(command: PolicyCommand, { print, loadConfig }: CommandTools): Promise<number> {
  const found = loadConfig(command.config);
  if (!found) return 1;
  const { rules = [] } = found.keys as { rules?: RuleOptions[] };
  try {
    const replay = await createReplay(rules, found.servers);
    const { calls, skipped } = readPastCalls(command.log);
    report(calls, replay, { command, print, skipped });
    return 0;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT' && command.log === undefined) {
      print.line(
        'Nothing is recorded yet, so there is nothing to compare. `parley serve` and `parley wrap` record calls.',
      );
      return 0;
    }
    print.problem(
      thrown instanceof GatewayError ? thrown.message : `the log cannot be read: ${(thrown as Error).message}`,
    );
    return 1;
  }
}

function report(
  calls: readonly RecordedCall[],
  replay: (call: PastCall) => ReplayedCall,
  { command, print, skipped }: { command: PolicyCommand; print: Printer; skipped: number },
): void {
  const verdicts = new Map<string, Verdict>();
  for (const call of calls) {
    const { decisions, unknown } = replay(call);
    const { server, name } = call;
    const principal = isAnonymous(call.principal) ? 'anonymous' : call.principal; // every session has its own
    const before = call.decision?.effect ?? 'allow';
    const after = [...new Set(decisions.map((decision) => decision?.effect ?? 'allow'))];
    const key = JSON.stringify([principal, server, name, before, after]);
    const known = verdicts.get(key) ?? { principal, server, name, before, after, unknown, calls: 0 };
    verdicts.set(key, { ...known, calls: known.calls + 1 });
  }
  const all = [...verdicts.values()];
  const changed = all.filter(({ before, after }) => after.length === 1 && after[0] !== before);
  const open = all.filter(({ before, after }) => after.length > 1 && after.some((effect) => effect !== before));
  if (command.json)
    return print.line(JSON.stringify({ calls: calls.length, skipped, changed, depends: open }, undefined, 2));
  print.line(`${count(calls.length)} replayed: ${sum(changed)} would change, ${sum(open)} may change.`);
  const rows = [...changed, ...open].map((one) => [
    String(one.calls),
    one.principal,
    `${one.server}__${one.name}`,
    one.before,
    one.after.length === 1 ? one.after[0]! : `${one.after.join(' or ')}, depends on ${one.unknown.join(', ')}`,
  ]);
  if (rows.length > 0)
    for (const line of toTable([['CALLS', 'PRINCIPAL', 'WHAT', 'WAS', 'WOULD BE'], ...rows])) print.line(line);
  if (skipped > 0) print.note(`${skipped} lines of the log are not calls that rules judge.`);
}

function sum(verdicts: readonly Verdict[]): number {
  return verdicts.reduce((total, { calls }) => total + calls, 0);
}

function count(calls: number): string {
  return `${calls} call${calls === 1 ? '' : 's'}`;
}

/** From one file of an audit log, or all files of its folder, oldest first. `skipped`: lines that are not calls, or name nothing. */
function readPastCalls(log: string | undefined): { calls: RecordedCall[]; skipped: number } {
  const lines = filesOf(log ?? ownAuditFolder()).flatMap((file) => readFileSync(file, 'utf8').split('\n'));
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
