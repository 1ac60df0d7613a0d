// `parley audit`: verifies the audit log, exports it, and prints the public key that signs it.
import { AuditTail } from './audit-lines.ts';
import { readSigningKey, toPublicText } from './audit-folder.ts';
import { readHeads } from './audit-heads.ts';
import type { AuditHead } from './audit-heads.ts';
import { toOcsf } from './to-ocsf.ts';
import { verifyAudit } from './verify-audit.ts';
import type { AuditReport } from './verify-audit.ts';
import type { CommandTools } from '../../../kernel/command/command-tools.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { ownAuditFolder } from './own-audit.ts';

interface AuditCommand {
  action: 'verify' | 'export' | 'key';
  head: string | undefined;
  heads: string | undefined;
  key: string | undefined;
  format: 'jsonl' | 'ocsf';
  since: string | undefined;
  json: boolean;
}

export async function runAudit(command: AuditCommand, { print }: CommandTools): Promise<number> {
  const folder = ownAuditFolder();
  if (command.action === 'verify') return verify(folder, command, print);
  if (command.action === 'export') return exportLines(folder, command, print);
  const key = readSigningKey(folder);
  if (key) print.line(toPublicText(key));
  else print.problem('there is no key yet: it is made with the first line of the audit log.');
  return key ? 0 : 1;
}

/** As `verify` prints it: a SHA-256. Anything else is a typing error, not a sign of tampering. */
const HEAD = /^[\w-]{43}$/;

function verify(folder: string, { head, heads, key, json }: AuditCommand, print: Printer): number {
  if (head !== undefined && !HEAD.test(head)) {
    print.problem(
      `"${head}" is not a head: it has 43 letters, digits, "-" and "_", as "parley audit verify" prints it.`,
    );
    return 2;
  }
  let sent: AuditHead[] | undefined;
  try {
    sent = heads === undefined ? undefined : readHeads(heads);
  } catch (thrown) {
    print.problem(`the heads cannot be read: ${(thrown as Error).message}`);
    return 2;
  }
  let report: AuditReport;
  try {
    report = verifyAudit(folder, { head, heads: sent, key });
  } catch {
    print.problem('this is not a public key. "parley audit key" prints one.');
    return 2;
  }
  const isGood = report.problems.length === 0;
  if (json) print.line(JSON.stringify(report));
  else {
    for (const note of report.notes) print.note(note);
    for (const problem of report.problems) print.problem(problem);
    print.line(toVerdict(report));
    if (report.head !== undefined) print.line(`head: ${report.head}`);
  }
  return isGood ? 0 : 1;
}

function toVerdict({ problems, lines, chains }: AuditReport): string {
  const what = `${lines} ${lines === 1 ? 'line' : 'lines'} in ${chains} ${chains === 1 ? 'chain' : 'chains'}`;
  if (lines === 0 && problems.length === 0) return 'Nothing is recorded yet.';
  return problems.length === 0 ? `${what}: complete and unchanged.` : `${what}: NOT as they were written.`;
}

function exportLines(folder: string, { format, since }: AuditCommand, print: Printer): number {
  const entries = new AuditTail(folder).read(({ time }) => since === undefined || time >= since);
  for (const { line, file } of entries) {
    const event = format === 'ocsf' ? toOcsf(line, file.chain) : { ...line, chain: file.chain };
    if (event) print.line(JSON.stringify(event));
  }
  return 0;
}
