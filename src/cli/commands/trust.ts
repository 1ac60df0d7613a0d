// `parley trust`: shows what a configuration starts, contacts and runs, and remembers that the user trusts it as it is now.
import { resolve } from 'node:path';
import { loadConfig } from '../../config/read/load-config.ts';
import type { TrustCommand } from '../args/access-commands.ts';
import { readEnvironment, displayPath } from '../environment.ts';
import { programName } from '../program.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { toTable } from '../../kernel/command/table.ts';
import { fingerprintOf } from '../trust/code-sources.ts';
import { judgeTrust, readTrusted, unboundServers, whyUnbound, writeTrusted } from '../trust/judge-trust.ts';
import { toMissingLines, toProblemLines } from '../trust/load-command-config.ts';
import { askToTrust, rememberTrust, describeOrReport } from '../trust/offer-trust.ts';
import { describeChanges } from '../trust/describe-config.ts';

export async function runTrust(command: TrustCommand, print: Printer): Promise<number> {
  if (command.action === 'ls') return list(print);
  if (command.action === 'rm') return remove(command.file, print);
  return trust(command, print);
}

async function trust({ file, isSure }: TrustCommand, print: Printer): Promise<number> {
  const environment = readEnvironment();
  const loaded = loadConfig(file, environment);
  const { path, config } = loaded;
  if (path === undefined || !config) {
    if (path === undefined) print.problem('no configuration was named, and none was found here.');
    for (const line of path === undefined ? toMissingLines() : toProblemLines(loaded)) print.note(line);
    return 1;
  }
  if (judgeTrust(loaded, environment) === 'own') {
    print.line(`${displayPath(path)} is your own: it needs no trust.`);
    return 0;
  }
  if (unboundServers(loaded).length > 0) {
    print.problem(whyUnbound(loaded));
    return 1;
  }
  const lines = describeOrReport(loaded, print);
  if (!lines) return 1;
  const fingerprint = fingerprintOf(loaded); // of what is shown now
  print.line(displayPath(path));
  for (const line of [...lines, ...describeChanges(loaded, lines, readTrusted()[path])]) print.line(line);
  if (isSure) rememberTrust(loaded, fingerprint, lines);
  else if (!process.stdin.isTTY) {
    print.problem(`nobody can be asked here. To trust it as it is: ${programName()} trust ${displayPath(path)} --yes`);
    return 1;
  } else if (!(await askToTrust(loaded, lines))) {
    print.line('Not trusted.');
    return 1;
  }
  print.line('Trusted, until it changes.');
  return 0;
}

function list(print: Printer): number {
  const files = Object.entries(readTrusted());
  if (files.length === 0)
    print.line(`Nothing is trusted except your own files. To trust a file: ${programName()} trust FILE`);
  const rows = files.map(([path, { trusted }]) => [path, trusted.slice(0, 10)]);
  for (const line of rows.length > 0 ? toTable([['FILE', 'SINCE'], ...rows]) : []) print.line(line);
  return 0;
}

function remove(file: string, print: Printer): number {
  const path = resolve(file);
  const { [path]: known, ...rest } = readTrusted();
  if (!known) {
    print.problem(`${displayPath(path)} was not trusted.`);
    return 1;
  }
  writeTrusted(rest);
  print.line(`${displayPath(path)} is no longer trusted. A gateway that runs keeps what it has until it ends.`);
  return 0;
}
