// Shows what a configuration does, asks whether it is trusted, and remembers the answer.
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { isConfirmed } from '../terminal/terminal.ts';
import { dataIn, fingerprintOf } from './code-sources.ts';
import type { Fingerprint } from './code-sources.ts';
import { describeChanges, describeTrust } from './describe-config.ts';
import { readTrusted, writeTrusted, writtenIn } from './judge-trust.ts';
import { shapeOf } from './only-tightens.ts';

/** Shows what an untrusted configuration does and, on a terminal, asks. */
export async function offerTrust(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const lines = describeOrReport(loaded, print);
  if (!lines) return false;
  for (const line of [...lines, ...describeChanges(loaded, lines, readTrusted()[loaded.path!])]) print.note(line);
  return process.stdin.isTTY && process.stderr.isTTY ? askToTrust(loaded, lines) : false;
}

/** What was shown is what is trusted: the digest is taken before the question. */
export async function askToTrust(loaded: LoadedConfig, shown: string[]): Promise<boolean> {
  const fingerprint = fingerprintOf(loaded);
  if (!(await isConfirmed('Trust it?'))) return false;
  rememberTrust(loaded, fingerprint, shown);
  return true;
}

/** `shown`: what the user has seen, to compare it when it changes. */
export function rememberTrust(loaded: LoadedConfig, fingerprint: Fingerprint, shown: string[]): void {
  const about = { data: dataIn(loaded.config!), written: shapeOf(writtenIn(loaded)) };
  const trusted = new Date().toISOString();
  writeTrusted({ ...readTrusted(), [loaded.path!]: { ...fingerprint, ...about, shown, trusted } });
}

/** Undefined if its steps have too many files; this has been printed. */
export function describeOrReport(loaded: LoadedConfig, print: Printer): string[] | undefined {
  try {
    return describeTrust(loaded);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    print.problem(`${thrown.message}.`);
    return undefined;
  }
}
